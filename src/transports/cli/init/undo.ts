import type { Terminal } from '../output/terminal.ts';
import { applyChanges, removeLeftovers, sameBytes } from './changes.ts';
import { launchersInUse } from './launchers-in-use.ts';
import { hookNotes, removeHookNotes, storeNote } from './leftovers.ts';
import { manifestPath, readManifest, withManifest } from './manifest.ts';
import { keyOf } from './prepare.ts';
import { type SetupOutcome, showChanges } from './report.ts';
import { planUndo, type Undone } from './setup-plan.ts';
import type { InitOptions, Request } from './setup-request.ts';

/** Back to how it was, byte for byte; what was edited since only loses what is ours. */
export async function undoInit(
  request: Request,
  options: InitOptions,
  terminal: Terminal,
): Promise<SetupOutcome> {
  const { site, state } = request;
  const path = manifestPath(state, keyOf(site));
  const known = readManifest(path);
  const base = { request, exit_code: 0 };
  if (known === undefined) return { ...base, action: 'nothing', notes: otherScope(request) };
  const running = launchersInUse(known.files.map((file) => file.path));
  const undone = planUndo(known).filter(({ change }) => !running.has(change.path));
  const changes = undone.map(({ change }) => change).filter(({ before, after }) => !sameBytes(before, after));
  const isDry = options.dryRun === true;
  const kept = hookNotes(state, path);
  const notes = [
    ...undone.flatMap(editedNote),
    ...[...running].map(
      (each) =>
        `${each} stays: a client that runs starts its commands with it. Remove it when the client has ended.`,
    ),
    ...kept.map((each) => `${each} ${isDry ? 'would go' : 'is gone'} too: hooks had made it.`),
    ...storeNote(request, known),
  ];
  if (isDry) {
    if (options.json !== true) await showChanges(changes, options, terminal);
    return { ...base, action: 'planned', changes, notes };
  }
  withManifest(path, known, (held) => {
    applyChanges(changes);
    for (const { change } of undone) removeLeftovers(change.path);
    removeHookNotes(kept);
    held.remove();
  });
  return { ...base, action: 'undone', changes, notes };
}

function editedNote({ change, edited, left }: Undone): string[] {
  if (left) return [`${change.path} was edited since and is left as it is.`];
  return edited && change.before !== undefined
    ? [`${change.path} was edited since: only what cox init had written was taken out.`]
    : [];
}

function otherScope({ site, state }: Request): string[] {
  const scope = site.scope === 'user' ? 'project' : 'user';
  if (readManifest(manifestPath(state, keyOf({ ...site, scope }))) === undefined) return [];
  return [`Set up with --scope ${scope}: \`cox init --undo --scope ${scope}\` takes that away.`];
}
