import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { removeWorkspace } from './agent-workspace.ts';
import { collected, hasToStay } from './collect.ts';
import { type Places, RunFiles } from './run-files.ts';
import { clearFolder, isLost, starterOf } from './run-folder.ts';

/** What came of it is on the ledger: nobody will ask for it again. */
export async function forgetRun(run_id: string, places: Places): Promise<void> {
  const run = new RunFiles(run_id, places);
  if (collected(run) === undefined || hasToStay(run)) return;
  await removeWorkspace(run, places);
  await rm(run.folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Whether somebody, whoever it is, still waits for what comes of a run. */
export type Wanted = (run_id: string) => boolean;

/**
 * What orchestrators left that were killed: trees of runs that were collected; and, of those that nobody waits for any more,
 * all that is left, with their work kept. What still runs is left alone: it ends in its time.
 */
export async function sweepRuns(places: Places, wantedNow: () => Promise<Wanted>): Promise<void> {
  // Listed before it is asked who is waited for: a run that begins later is in neither.
  const names = namesIn(places.runs);
  const isWanted = await wantedNow();
  for (const name of names) {
    const run = new RunFiles(name, places);
    const starter = starterOf(run);
    if (starter === undefined || hasToStay(run)) continue;
    if (collected(run) !== undefined) {
      if (isWanted(starter.run_id)) await removeWorkspace(run, places);
      else await forgetRun(starter.run_id, places);
    } else if (!isWanted(starter.run_id) && (run.exit() !== undefined || isLost(run)))
      await clearFolder(run, places);
  }
}

/** Other names than a run has are other things, or wait for a person. */
function namesIn(runs: string): string[] {
  try {
    return readdirSync(runs).filter((name) => new RunFiles(name, { runs }).name === name);
  } catch {
    return [];
  }
}
