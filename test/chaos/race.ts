// node test/chaos/race.ts --seconds 10 --processes 32 --store URL
// Many processes race for one path; no two may ever be inside together, by their own eyes and by the log.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { endOfLog, leaseFaults, readLog } from './log-check.ts';

export interface RaceResult {
  readonly grants: number;
  readonly refusals: number;
  readonly overlaps: number;
  readonly unavailable: number;
  readonly winners: number;
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function race(store: string, processes: number, seconds: number): Promise<RaceResult> {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'last-token'), '0');
  const path = 'src/wanted.ts';
  // Creating the store is not what this is about.
  const before = await endOfLog(store);
  const racers = Array.from({ length: processes }, (_, index) =>
    startProgram('race-worker.ts', { store, folder: folder.path, agent_id: `racer-${index}`, path }),
  );
  // All stand at the line before anyone runs.
  await Promise.all(racers.map(({ lines }) => lines.next()));
  const deadline_ms = Date.now() + seconds * 1000;
  for (const { child } of racers) child.stdin?.write(`${deadline_ms}\n`);
  const total = { grants: 0, refusals: 0, overlaps: 0, unavailable: 0 };
  let winners = 0;
  for (const racer of racers) {
    const { value } = await racer.lines.next();
    const { code, stderr } = await racer.exited;
    if (code !== 0 || value === undefined) throw new Error(`a racer ended with ${code}: ${stderr}`);
    const count = JSON.parse(value) as typeof total;
    if (count.grants > 0) winners += 1;
    for (const name of ['grants', 'refusals', 'overlaps', 'unavailable'] as const) total[name] += count[name];
  }
  const coxswain = await open({ store });
  const entries = await readLog(coxswain.store);
  await coxswain.close();
  const faults = leaseFaults(entries);
  const acquired = entries
    .filter(({ position }) => position > before)
    .flatMap((entry) => entry.events)
    .filter(({ type }) => type === 'lock_acquired');
  if (acquired.length !== total.grants)
    faults.push(`${total.grants} grants were answered, ${acquired.length} are in the log`);
  const engine = store.slice(0, store.indexOf(':'));
  const summary = `race on ${engine}: ${processes} processes, ${seconds} s: grants ${total.grants} (to ${winners} of them), refusals ${total.refusals}, overlaps ${total.overlaps}, unavailable ${total.unavailable}, faults in the log ${faults.length}`;
  return { ...total, winners, faults, summary };
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const defaults = { seconds: 10, processes: 32, store: `sqlite:${join(folder.path, 'cox.db')}` };
  const { store, processes, seconds } = readOptions(defaults);
  const result = await race(store, processes, seconds);
  console.log(result.summary);
  for (const fault of result.faults) console.log(fault);
  if (result.overlaps > 0 || result.faults.length > 0) process.exitCode = 1;
}
