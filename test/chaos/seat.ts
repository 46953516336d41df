// node test/chaos/seat.ts --kills 1000 --stops 200
// Whoever sits is killed or stopped, again and again, under load. Nothing acknowledged may be lost, nothing done twice,
// and nobody may wait long.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { until } from '../support/until.ts';
import { endProgram, type Program, readOptions, startProgram, temporaryFolder } from './crew.ts';
import { leaseFaults, readLog } from './log-check.ts';

const LANES = 3;
const WAIT_MS_MAX = 3000;
/** Most stops are short; some outlast the wait for an answer, the wait for the file and the seat's lease. */
const stop_ms = () => Math.random() ** 4 * 7000;
/** Of these the seat was in the middle of a commit: whoever waits for the file is told so, within the time. */
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

class Crew {
  readonly #programs = new Map<number, { slot: number; program: Program }>();
  readonly #store: string;
  readonly #folder: string;

  constructor(store: string, folder: string) {
    this.#store = store;
    this.#folder = folder;
  }

  async start(slot: number): Promise<void> {
    const options = { store: this.#store, folder: this.#folder, name: `s${slot}`, lanes: LANES, sits: true };
    const program = startProgram('seat-worker.ts', options);
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

  signal(pid: number, signal: NodeJS.Signals): void {
    this.#programs.get(pid)?.program.child.kill(signal);
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
  const crew = new Crew(store, folder.path);
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
      crew.signal(pid, 'SIGKILL');
      restarts.push(crew.replace(pid));
    } else {
      crew.signal(pid, 'SIGSTOP');
      await systemClock.sleep(stop_ms());
      crew.signal(pid, 'SIGCONT');
    }
    // Never all of them away at once.
    if (restarts.length >= processes - 2) await Promise.all(restarts.splice(0));
  }
  await Promise.all(restarts);
  await crew.end();
  database.close();
  const account = await judge(store, folder.path, processes);
  const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
  const { acknowledged, lost, doubled, away, worst_ms, faults } = account;
  const summary = `seat: kills ${kills}, stops ${stops}, acknowledged ${acknowledged}, lost ${lost}, doubled ${doubled} (told unavailable ${away}, longest wait ${worst_ms.toFixed(0)} ms, faults ${faults.length}, ${seconds} s)`;
  return { ...account, kills, stops, summary };
}

async function judge(store: string, folder: string, processes: number) {
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
      const said = JSON.parse(line) as {
        tried?: string;
        answered?: string;
        elapsed_ms: number;
        success: boolean;
        error: string;
      };
      if (said.tried !== undefined && (rows.get(said.tried) ?? 0) > 1) account.doubled += 1;
      if (said.answered === undefined) continue;
      account.worst_ms = Math.max(account.worst_ms, said.elapsed_ms);
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

if (import.meta.main) {
  using folder = temporaryFolder();
  const { kills, stops, processes } = readOptions({ kills: 1000, stops: 200, processes: 6 });
  const result = await attackSeat(join(folder.path, 'cox.db'), kills, stops, processes);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(fault);
  if (result.faults.length > 0) process.exitCode = 1;
}
