// What postgres-restart.ts and dynamodb-restart.ts share: a server is stopped or killed with -9 under load and started
// again. Callers are told soon, go on by themselves, and what they ask again under the same operation_id is committed once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { endProgram, readOptions, startProgram, temporaryFolder } from './crew.ts';
import { type Account, type Line, parseJournal } from './journal.ts';
import { judge, lanesOf } from './kills.ts';

/** A server that keeps its data while it is away. */
export interface Restartable {
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RestartResult extends Account {
  readonly summary: string;
}

export interface Restarts {
  readonly rounds: number;
  readonly processes: number;
  /** How it ends, in turn. */
  readonly signals: readonly NodeJS.Signals[];
}

/** `store`: on that server. It is stopped at the end. */
export async function restartsUnderLoad(
  name: string,
  server: Restartable,
  store: string,
  { rounds, processes, signals }: Restarts,
): Promise<RestartResult> {
  using folder = temporaryFolder();
  const slots = Array.from({ length: processes }, (_, slot) => lanesOf(slot));
  const workers = slots.map((lanes) =>
    startProgram('kills-worker.ts', { store, folder: folder.path, lanes, finish: false }),
  );
  try {
    const lines = () => slots.flat().map((lane) => journal(folder.path, lane));
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(lines, 'answered');
      await server.kill(signals[round % signals.length] ?? 'SIGINT');
      await moreThan(lines, 'away');
      await server.restart();
    }
    await moreThan(lines, 'answered');
    await Promise.all(workers.map(endProgram));
    const { rows, ...account } = await judge(store, folder.path, slots.flat());
    const summary = `restarts of ${name}: ${rounds} under load of ${processes} processes, acknowledged ${account.acknowledged}, lost ${account.lost}, doubled ${account.doubled}, told ${account.away} times that it was away, after ${Math.round(account.away_ms_max)} ms at most, rows ${rows}, other faults ${account.faults.length - account.lost - account.doubled}`;
    return { ...account, summary };
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
    await server.stop();
  }
}

function journal(folder: string, lane: string): Line[] {
  try {
    return parseJournal(readFileSync(join(folder, `${lane}.journal`), 'utf8'));
  } catch {
    return []; // not there yet
  }
}

/** Until every agent has had something happen to it since now. */
async function moreThan(lines: () => Line[][], what: 'answered' | 'away'): Promise<void> {
  const count = (journals: Line[][]) => journals.map((each) => each.filter((line) => what in line).length);
  const before = count(lines());
  await until(async () => count(lines()).every((now, index) => now > (before[index] ?? 0) + 1));
}

/** By hand: `--rounds 10 --processes 4`. */
export async function reportRestarts(
  restart: (rounds: number, processes: number) => Promise<RestartResult>,
): Promise<void> {
  const { rounds, processes } = readOptions({ rounds: 10, processes: 4 });
  const result = await restart(rounds, processes);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(fault);
  if (result.faults.length > 0) process.exitCode = 1;
}
