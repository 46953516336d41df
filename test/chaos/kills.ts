// node test/chaos/kills.ts --kills 1000 --store URL
// Writers are killed with SIGKILL at random instants. Every acknowledged commit must be in the log exactly once, and what
// was asked again under its operation_id must not be there twice.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { type Account, parseJournal, settle } from './journal.ts';
import { leaseFaults, readLog } from './log-check.ts';

const LANES = 3;
const ACTIVE_MS_MAX = 60;
/** Most are killed in mid-stream; some while they start, some while they ask again for what the last one left open. */
const STARTING_SHARE = 0.1;
const RETRYING_SHARE = 0.3;
const STARTING_MS_MAX = 250;

export interface KillsResult extends Account {
  readonly kills: number;
  readonly rows: number;
  readonly summary: string;
}

export function lanesOf(slot: number): string[] {
  return Array.from({ length: LANES }, (_, lane) => `w${slot}x${lane}`);
}

export async function killWriters(store: string, kills: number, processes: number): Promise<KillsResult> {
  using folder = temporaryFolder();
  const started_ms = performance.now();
  const faults: string[] = [];
  let left = kills;
  const oneSlot = async (slot: number) => {
    while (left > 0) {
      left -= 1;
      const fault = await killOne(store, folder.path, lanesOf(slot));
      if (fault !== undefined) faults.push(fault);
    }
    await finish(store, folder.path, lanesOf(slot));
  };
  await Promise.all(Array.from({ length: processes }, (_, slot) => oneSlot(slot)));
  const names = Array.from({ length: processes }, (_, slot) => lanesOf(slot)).flat();
  const { rows, ...account } = await judge(store, folder.path, names);
  account.faults.unshift(...faults);
  // The store is there all the time, whichever process dies.
  if (account.unread > 0) account.faults.push(`${account.unread} reads were told that the store is away`);
  const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
  const engine = store.slice(0, store.indexOf(':'));
  const summary = `kills on ${engine}: kills ${kills}, acknowledged ${account.acknowledged}, lost ${account.lost}, doubled ${account.doubled} (refused ${account.refused}, away ${account.away}, rows ${rows}, other faults ${account.faults.length - account.lost - account.doubled}, ${seconds} s)`;
  return { ...account, kills, rows, summary };
}

async function killOne(store: string, folder: string, lanes: string[]): Promise<string | undefined> {
  const worker = startProgram('kills-worker.ts', { store, folder, lanes, finish: false });
  const when = Math.random();
  if (when > STARTING_SHARE) await worker.lines.next(); // "ready"
  if (when > STARTING_SHARE + RETRYING_SHARE) await worker.lines.next(); // "active": it has had an answer
  await systemClock.sleep(Math.random() * (when > STARTING_SHARE ? ACTIVE_MS_MAX : STARTING_MS_MAX));
  worker.child.kill('SIGKILL');
  const { code, signal, stderr } = await worker.exited;
  return signal === 'SIGKILL' ? undefined : `a writer ended by itself with ${code ?? signal}: ${stderr}`;
}

/** The last incarnation answers what is still open. */
async function finish(store: string, folder: string, lanes: string[]): Promise<void> {
  const { code, stderr } = await startProgram('kills-worker.ts', { store, folder, lanes, finish: true })
    .exited;
  if (code !== 0) throw new Error(`the last writer ended with ${code}: ${stderr}`);
}

/** Compares the journals with the log, the log with itself and the records with the log. */
export async function judge(
  store: string,
  folder: string,
  names: readonly string[],
): Promise<Account & { rows: number }> {
  const coxswain = await open({ store });
  const entries = await readLog(coxswain.store);
  const journals = names.map((name) => parseJournal(readFileSync(join(folder, `${name}.journal`), 'utf8')));
  const account = settle(journals, entries);
  account.faults.push(...leaseFaults(entries));
  const replayed = await replay(coxswain.store, entities, coxswain.project);
  for (const difference of await compareWithLive(coxswain.store, entities, coxswain.project, replayed))
    account.faults.push(`replay differs: ${JSON.stringify(difference)}`);
  await coxswain.close();
  if (store.startsWith('sqlite:')) account.faults.push(...integrityFaults(store.slice('sqlite:'.length)));
  return { ...account, rows: entries.length };
}

function integrityFaults(path: string): string[] {
  const database = new DatabaseSync(path);
  try {
    const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    return rows.flatMap(({ integrity_check: said }) => (said === 'ok' ? [] : [`integrity_check: ${said}`]));
  } finally {
    database.close();
  }
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const defaults = { kills: 1000, processes: 5, store: `sqlite:${join(folder.path, 'cox.db')}` };
  const { store, kills, processes } = readOptions(defaults);
  const result = await killWriters(store, kills, processes);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(fault);
  if (result.faults.length > 0) process.exitCode = 1;
}
