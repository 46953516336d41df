// node test/chaos/seat.ts --kills 1000 --stops 200 --seconds 60
// The process that sits is killed or stopped, again and again, under load. Nothing acknowledged may be lost, nothing done twice,
// and no process may wait long.
import {
  closeSync,
  cpSync,
  existsSync,
  fdatasync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { until } from '../support/until.ts';
import { endProgram, type Program, readOptions, startProgram, temporaryFolder } from './crew.ts';
import { leaseFaults, readLog } from './log-check.ts';

const WORKER = 'seat-worker.ts';
const LANES = 3;
/** Beyond what the machine itself stood still. */
const WAIT_MS_MAX = 3000;
const BEAT_MS = 20;
const STALL_MS = 200;
/** Most stops are short; some outlast the wait for an answer, the wait for the file and the seat's lease. */
const stop_ms = () => Math.random() ** 4 * 7000;
/** Of these the seat was in the middle of a commit: a process that waits for the file is told so, within the time. */
const UNAVAILABLE = 'database_unavailable';

export interface SeatResult {
  readonly kills: number;
  readonly stops: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly away: number;
  readonly worst_ms: number;
  readonly faults: string[];
  readonly summary: string;
}

interface Pause {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** When a process of this number could not have gone on, whatever the others did. */
type Standstills = (pid: number) => readonly Pause[];

/** Finds out when the machine or its disk itself stands still: no process waits for a neighbour then. */
class Pulse {
  readonly stalls: Pause[] = [];
  #beating = true;

  constructor(folder: string) {
    const file = openSync(join(folder, 'pulse'), 'a');
    const beat = async () => {
      while (this.#beating) {
        const from_ms = Date.now();
        await systemClock.sleep(BEAT_MS);
        writeSync(file, '.');
        await new Promise((resolve) => fdatasync(file, resolve));
        const to_ms = Date.now();
        if (to_ms - from_ms > STALL_MS) this.stalls.push({ from_ms, to_ms });
      }
      closeSync(file);
    };
    void beat();
  }

  [Symbol.dispose](): void {
    this.#beating = false;
  }
}

interface Member {
  readonly slot: number;
  readonly program: Program;
}

class Crew {
  readonly #programs = new Map<number, Member>();
  readonly #store: string;
  readonly #folder: string;

  readonly #lanes: number;
  /** What a slot runs: this version, or another one's copy; and whether it may sit. */
  readonly #kind: (slot: number) => { worker: string; sits: boolean };

  constructor(
    store: string,
    folder: string,
    lanes: number,
    kind: (slot: number) => { worker: string; sits: boolean },
  ) {
    this.#store = store;
    this.#folder = folder;
    this.#lanes = lanes;
    this.#kind = kind;
  }

  get pids(): number[] {
    return [...this.#programs.keys()];
  }

  async start(slot: number): Promise<void> {
    const { worker, sits } = this.#kind(slot);
    const options = { store: this.#store, folder: this.#folder, name: `s${slot}`, lanes: this.#lanes, sits };
    const program = startProgram(worker, options);
    await program.lines.next(); // "ready"
    this.#programs.set(program.child.pid ?? 0, { slot, program });
  }

  has(pid: number): boolean {
    return this.#programs.has(pid);
  }

  async replace(pid: number): Promise<void> {
    const found = this.#programs.get(pid);
    if (found === undefined) return;
    this.#programs.delete(pid);
    found.program.child.kill('SIGKILL');
    await found.program.exited;
    await this.start(found.slot);
  }

  /** When each process stood still: its own calls did not wait for another process then. */
  readonly stopped = new Map<number, Pause[]>();

  async stop(pid: number, duration_ms: number): Promise<void> {
    const child = this.#programs.get(pid)?.program.child;
    const from_ms = Date.now();
    child?.kill('SIGSTOP');
    await systemClock.sleep(duration_ms);
    child?.kill('SIGCONT');
    this.stopped.set(pid, [...(this.stopped.get(pid) ?? []), { from_ms, to_ms: Date.now() }]);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#programs.values()].map(({ program }) => endProgram(program)));
  }
}

export async function attackSeat(
  path: string,
  kills: number,
  stops: number,
  processes: number,
): Promise<SeatResult> {
  using folder = temporaryFolder();
  const started_ms = performance.now();
  const store = `sqlite:${path}`;
  const crew = new Crew(store, folder.path, LANES, () => ({ worker: WORKER, sits: true }));
  using pulse = new Pulse(folder.path);
  await Promise.all(Array.from({ length: processes }, (_, slot) => crew.start(slot)));
  const database = new DatabaseSync(path, { readOnly: true });
  const seat = database.prepare('SELECT token, pid FROM seat');
  const attacks = [...Array<'kill'>(kills).fill('kill'), ...Array<'stop'>(stops).fill('stop')];
  attacks.sort(() => Math.random() - 0.5);
  let last = 0;
  const restarts: Promise<void>[] = [];
  for (const attack of attacks) {
    const { token, pid } = await until(async () => {
      const row = seat.get() as { token: number; pid: number } | undefined;
      return row !== undefined && row.token !== last && crew.has(row.pid) && row;
    });
    await systemClock.sleep(Math.random() * 30);
    if (attack === 'kill') {
      last = token;
      restarts.push(crew.replace(pid));
    } else {
      await crew.stop(pid, stop_ms());
    }
    // Never all of them away at once.
    if (restarts.length >= processes - 2) await Promise.all(restarts.splice(0));
  }
  await Promise.all(restarts);
  await crew.end();
  database.close();
  const standstills = (pid: number) => [...(crew.stopped.get(pid) ?? []), ...pulse.stalls];
  const account = await judge(store, folder.path, processes, standstills);
  const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
  const { acknowledged, lost, doubled, away, worst_ms, faults } = account;
  const summary = `seat: kills ${kills}, stops ${stops}, acknowledged ${acknowledged}, lost ${lost}, doubled ${doubled} (told unavailable ${away}, longest wait ${worst_ms.toFixed(0)} ms, faults ${faults.length}, ${seconds} s)`;
  return { ...account, kills, stops, summary };
}

/** Everything at once: many processes, some of another version, some that never sit, killed and stopped at random. */
export async function storm(path: string, seconds: number, processes: number): Promise<SeatResult> {
  using folder = temporaryFolder();
  using other = otherVersion();
  const store = `sqlite:${path}`;
  const kind = (slot: number) => ({
    worker: slot % 4 === 3 ? join(other.path, 'test', 'chaos', WORKER) : WORKER,
    sits: slot % 8 !== 6,
  });
  const crew = new Crew(store, folder.path, 1, kind);
  using pulse = new Pulse(folder.path);
  for (let slot = 0; slot < processes; slot += 1) await crew.start(slot);
  const end_ms = performance.now() + seconds * 1000;
  let kills = 0;
  let stops = 0;
  const attack = async () => {
    while (performance.now() < end_ms) {
      await systemClock.sleep(Math.random() * 200);
      const { pids } = crew;
      const pid = pids[Math.floor(Math.random() * pids.length)] ?? 0;
      if (Math.random() < 0.5) {
        kills += 1;
        await crew.replace(pid);
      } else {
        stops += 1;
        await crew.stop(pid, Math.random() * 500);
      }
    }
  };
  await Promise.all([attack(), attack()]);
  await crew.end();
  const standstills = (pid: number) => [...(crew.stopped.get(pid) ?? []), ...pulse.stalls];
  const account = await judge(store, folder.path, processes, standstills);
  const { acknowledged, lost, doubled, away, worst_ms, faults } = account;
  const summary = `storm: ${processes} processes, ${seconds} s, kills ${kills}, stops ${stops}, acknowledged ${acknowledged}, lost ${lost}, doubled ${doubled} (told unavailable ${away}, longest wait ${worst_ms.toFixed(0)} ms, faults ${faults.length})`;
  return { ...account, kills, stops, summary };
}

/** The same sources under another version number, as after an update of one of two clients. */
function otherVersion(): { path: string; [Symbol.dispose](): void } {
  const folder = temporaryFolder();
  const root = join(import.meta.dirname, '..', '..');
  for (const part of ['src', 'test/chaos', 'test/support'])
    cpSync(join(root, part), join(folder.path, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ ...manifest, version: '0.0.0' }));
  return folder;
}

async function judge(store: string, folder: string, processes: number, standstills: Standstills) {
  const coxswain = await open({ store });
  const entries = await readLog(coxswain.store);
  await coxswain.close();
  const rows = new Map<string, number>();
  for (const { events } of entries)
    for (const { type, data } of events)
      if (type === 'task_submitted')
        rows.set(`${data.description}`, (rows.get(`${data.description}`) ?? 0) + 1);
  const account = {
    acknowledged: 0,
    lost: 0,
    doubled: 0,
    away: 0,
    worst_ms: 0,
    faults: leaseFaults(entries),
  };
  for (let slot = 0; slot < processes; slot += 1) {
    const journal = join(folder, `s${slot}.journal`);
    for (const line of existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []) {
      // A line torn by the kill.
      if (!line.endsWith('}')) continue;
      const said = JSON.parse(line) as Said;
      if (said.tried !== undefined && (rows.get(said.tried) ?? 0) > 1) account.doubled += 1;
      if (said.answered === undefined) continue;
      account.worst_ms = Math.max(account.worst_ms, waited_ms(said, standstills(said.pid)));
      if (said.success) {
        account.acknowledged += 1;
        if (!rows.has(said.answered)) account.lost += 1;
      } else if (said.error === UNAVAILABLE) account.away += 1;
      else account.faults.push(line);
    }
  }
  if (account.lost > 0) account.faults.push(`${account.lost} lost`);
  if (account.doubled > 0) account.faults.push(`${account.doubled} doubled`);
  if (account.worst_ms > WAIT_MS_MAX)
    account.faults.push(`somebody waited ${account.worst_ms.toFixed(0)} ms`);
  return account;
}

interface Said {
  readonly tried?: string;
  readonly answered?: string;
  readonly pid: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly success: boolean;
  readonly error: string;
}

function waited_ms({ from_ms, to_ms }: Said, pauses: readonly Pause[]): number {
  const stood = pauses.map((pause) =>
    Math.max(0, Math.min(to_ms, pause.to_ms) - Math.max(from_ms, pause.from_ms)),
  );
  return to_ms - from_ms - stood.reduce((sum, part) => sum + part, 0);
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const defaults = { kills: 1000, stops: 200, processes: 8, seconds: 60, storm: 32 };
  const { kills, stops, processes, seconds, storm: crowd } = readOptions(defaults);
  const results = [];
  if (kills + stops > 0)
    results.push(await attackSeat(join(folder.path, 'seat.db'), kills, stops, processes));
  if (seconds > 0) results.push(await storm(join(folder.path, 'storm.db'), seconds, crowd));
  for (const { summary, faults } of results) {
    console.log(summary);
    for (const fault of faults.slice(0, 20)) console.log(fault);
    if (faults.length > 0) process.exitCode = 1;
  }
}
