// node test/chaos/areas.ts --seconds 20 --processes 16 --store URL
// Many processes with random programs of locks on files, folders and patterns, shared and exclusive, some waiting in line.
// No process may ever be inside with one that must not be there, by their own eyes and by the log; none overtakes a waiter.
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { areaFaults, endOfLog, readLog } from './log-check.ts';

const COUNTED = ['grants', 'refusals', 'waited', 'overlaps', 'unavailable'] as const;

export interface AreasResult extends Readonly<Record<(typeof COUNTED)[number], number>> {
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function raceForAreas(store: string, processes: number, seconds: number): Promise<AreasResult> {
  using folder = temporaryFolder();
  const before = await endOfLog(store);
  const racers = Array.from({ length: processes }, (_, index) =>
    startProgram('areas-worker.ts', {
      store,
      folder: folder.path,
      agent_id: `racer-${index}`,
      seed: index + 1,
    }),
  );
  // All stand at the line before anyone runs.
  await Promise.all(racers.map(({ lines }) => lines.next()));
  const deadline_ms = Date.now() + seconds * 1000;
  for (const { child } of racers) child.stdin?.write(`${deadline_ms}\n`);
  const total = { grants: 0, refusals: 0, waited: 0, overlaps: 0, unavailable: 0 };
  for (const racer of racers) {
    const { value } = await racer.lines.next();
    const { code, stderr } = await racer.exited;
    if (code !== 0 || value === undefined) throw new Error(`a racer ended with ${code}: ${stderr}`);
    const count = JSON.parse(value) as typeof total;
    for (const name of COUNTED) total[name] += count[name];
  }
  const coxswain = await open({ store });
  const entries = await readLog(coxswain.store);
  const faults = areaFaults(entries);
  const replayed = await replay(coxswain.store, entities, coxswain.project);
  for (const difference of await compareWithLive(coxswain.store, entities, coxswain.project, replayed))
    faults.push(`replay differs: ${JSON.stringify(difference)}`);
  await coxswain.close();
  const granted = entries.filter(
    ({ position, operation, events }) =>
      position > before && operation === 'acquire_lock' && events.length > 0,
  );
  if (granted.length !== total.grants)
    faults.push(`${total.grants} grants were answered, ${granted.length} are in the log`);
  const engine = store.slice(0, store.indexOf(':'));
  const counted = COUNTED.map((name) => `${name} ${total[name]}`).join(', ');
  const summary = `areas on ${engine}: ${processes} processes, ${seconds} s: ${counted}, faults in the log ${faults.length}`;
  return { ...total, faults, summary };
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const defaults = { seconds: 20, processes: 16, store: `sqlite:${join(folder.path, 'cox.db')}` };
  const { store, processes, seconds } = readOptions(defaults);
  const result = await raceForAreas(store, processes, seconds);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(fault);
  if (result.overlaps > 0 || result.faults.length > 0) process.exitCode = 1;
}
