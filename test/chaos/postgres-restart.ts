// node test/chaos/postgres-restart.ts --rounds 10 --processes 4
// A PostgreSQL server is stopped or killed with -9 under load and started again. Callers are told within two seconds, go
// on by themselves, and what they ask again under the same operation_id is committed once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { endProgram, readOptions, startProgram, temporaryFolder } from './crew.ts';
import { type Account, type Line, parseJournal } from './journal.ts';
import { judge, lanesOf } from './kills.ts';

export interface RestartResult extends Account {
  readonly summary: string;
}

export async function restartUnderLoad(rounds: number, processes: number): Promise<RestartResult> {
  using folder = temporaryFolder();
  const server = await startPostgres({ fsync: true });
  try {
    const store = await server.createDatabase();
    const slots = Array.from({ length: processes }, (_, slot) => lanesOf(slot));
    const workers = slots.map((lanes) =>
      startProgram('kills-worker.ts', { store, folder: folder.path, lanes, finish: false }),
    );
    const lines = () => slots.flat().map((lane) => journal(folder.path, lane));
    for (let round = 0; round < rounds; round += 1) {
      await moreThan(lines, 'answered');
      await server.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGINT');
      await moreThan(lines, 'away');
      await server.restart();
    }
    await moreThan(lines, 'answered');
    await Promise.all(workers.map(endProgram));
    const { rows, ...account } = await judge(store, folder.path, slots.flat());
    const summary = `restarts of postgres: ${rounds} under load of ${processes} processes, acknowledged ${account.acknowledged}, lost ${account.lost}, doubled ${account.doubled}, told ${account.away} times that it was away, after ${Math.round(account.away_ms_max)} ms at most, rows ${rows}, other faults ${account.faults.length - account.lost - account.doubled}`;
    return { ...account, summary };
  } finally {
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

if (import.meta.main) {
  const { rounds, processes } = readOptions({ rounds: 10, processes: 4 });
  const result = await restartUnderLoad(rounds, processes);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(fault);
  if (result.faults.length > 0) process.exitCode = 1;
}
