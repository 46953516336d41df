import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { removeWorkspace } from './agent-workspace.ts';
import { collected, hasToStay } from './collect.ts';
import { type Places, RunFiles } from './run-files.ts';
import { clearFolder, isLost, starterOf } from './run-folder.ts';

/** Called when the result is on the ledger: no process will ask for the run again. */
export async function forgetRun(run_id: string, places: Places): Promise<void> {
  const run = new RunFiles(run_id, places);
  if (collected(run) === undefined || hasToStay(run)) return;
  await removeWorkspace(run, places);
  await rm(run.folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Whether any process still waits for the result of a run. */
export type SweepWanted = (run_id: string) => boolean;

/**
 * Removes what killed orchestrators left. Of runs that were collected, their trees; of runs that no process
 * waits for any more, everything, with their work kept. What still runs is left alone: it ends when its time
 * is up.
 */
export async function sweepRuns(places: Places, wantedNow: () => Promise<SweepWanted>): Promise<void> {
  // Listed before asking which runs are wanted: a run that starts later is in neither list.
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

/** Anything that is not named like a run is something else, or waits for a person. */
function namesIn(runs: string): string[] {
  try {
    return readdirSync(runs).filter((name) => new RunFiles(name, { runs }).name === name);
  } catch {
    return [];
  }
}
