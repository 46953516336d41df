import { archiveOld } from './archive.ts';
import { assignNew } from './assign.ts';
import { chainDone } from './follow-up.ts';
import { heedPersons } from './persons-word.ts';
import { type TaskAction, TreeDraft } from './task-actions.ts';
import type { TaskFile, WorkTree } from './task-file.ts';
import { findings, type WorkdirFinding } from './workdir-findings.ts';
import type { WorkdirSettings } from './workdir-settings.ts';

export interface PassPlan {
  /** In this order, before anything is reported. */
  readonly actions: readonly TaskAction[];
  /** Only moves, after it was reported: no pass reads what is in the archive. */
  readonly archiving: readonly TaskAction[];
  /** What is as it should not be, and what waits for what. */
  readonly findings: readonly WorkdirFinding[];
  /** The tasks as they are before archiving. */
  readonly files: readonly TaskFile[];
  /** The tasks after archiving. */
  readonly staying: readonly TaskFile[];
}

/**
 * One pass, planned from the files alone. The order lets every step build on the steps before it, so that a
 * pass on the result of a pass finds nothing to do.
 */
export function plan(tree: WorkTree, now_ms: number, settings: WorkdirSettings): PassPlan {
  const draft = new TreeDraft(tree);
  for (const [older, newer] of tree.twins)
    draft.drop(older, newer, `it is the same file as ${newer}: a move was cut short`);
  heedPersons(draft, now_ms);
  chainDone(draft, now_ms);
  const waiting = assignNew(draft, now_ms, settings);
  const archiving = archiveOld(draft, now_ms, settings);
  const files = draft.files();
  // As the next pass will find it; otherwise that pass would report something else.
  const archived = new Set(archiving.map((action) => (action.kind === 'move' ? action.from : '')));
  const staying = files.filter(({ path }) => !archived.has(path));
  return {
    actions: draft.actions,
    archiving,
    findings: [...waiting, ...findings(staying, draft.agents, now_ms, settings)],
    files,
    staying,
  };
}
