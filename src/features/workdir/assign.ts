import { circlesAmong } from './circles.ts';
import { ArtefactMap } from './conflicts.ts';
import type { TreeDraft } from './task-actions.ts';
import { byUrgency, compare, fileName, type TaskFile } from './task-file.ts';
import type { WorkdirFinding } from './workdir-findings.ts';
import type { WorkdirSettings } from './workdir-settings.ts';

/** What is new goes to its agent's folder, as soon as nothing keeps it. Answers what waits, and for what. [DIR-1] */
export function assignNew(draft: TreeDraft, now_ms: number, settings: WorkdirSettings): WorkdirFinding[] {
  const waiting: TaskFile[] = [];
  const busy = settings.serialise_conflicts ? takenArtefacts(draft) : undefined;
  const inbox = draft.on('inbox').sort(byUrgency);
  const circles = circlesAmong(inbox);
  for (const file of inbox) {
    const { task, path } = file;
    if (task.status === 'error') continue;
    if (!draft.agents.has(task.agent)) {
      const message = `Agent '${task.agent}' not found`;
      draft.update(file, { status: 'error', error: { message, at_ms: now_ms } }, message);
    } else if (obstacleTo(draft, file, circles, busy) !== undefined) waiting.push(file);
    else {
      const why = `it is for ${task.agent}`;
      // A file that can't be written stays where it is.
      const assigned = draft.update(file, { status: 'assigned', assigned_at_ms: now_ms }, why);
      const moved = draft.move(assigned, placeFor(task.agent, path), why);
      busy?.add(moved);
    }
  }
  // What they wait for may have been assigned after them: it is told as the next pass will find it.
  return waiting.flatMap((file): WorkdirFinding[] => {
    const text = obstacleTo(draft, file, circles, busy);
    const { id, agent } = file.task;
    return text === undefined ? [] : [{ kind: 'waiting', id, agent, text }];
  });
}

const placeFor = (agent: string, path: string) => `assigned/${agent}/${fileName(path)}`;

function obstacleTo(
  draft: TreeDraft,
  file: TaskFile,
  circles: ReadonlyMap<string, string>,
  busy: ArtefactMap | undefined,
): string | undefined {
  if (file.task.status === 'blocked') return 'is blocked, as its file says';
  const to = placeFor(file.task.agent, file.path);
  if (draft.isOccupied(to)) return `waits for somebody to look at ${to}, which is there already`;
  return waitsFor(draft, file, circles) ?? (busy && meets(busy, file));
}

function takenArtefacts(draft: TreeDraft): ArtefactMap {
  const map = new ArtefactMap();
  for (const file of draft.on('assigned')) map.add(file);
  return map;
}

function meets(busy: ArtefactMap, file: TaskFile): string | undefined {
  const others = busy.meeting(file).map(({ other }) => other);
  const [first] = others.sort((a, b) => compare(a.id, b.id) || compare(a.written, b.written));
  return first && `waits for ${first.id}, which is to change ${first.written}`;
}

/** An unknown dependency is not met: its task may still be written, or its name is wrong. */
function waitsFor(
  draft: TreeDraft,
  { task }: TaskFile,
  circles: ReadonlyMap<string, string>,
): string | undefined {
  const open = task.dependencies.filter((id) => !isDone(draft, id));
  if (open.length === 0) return undefined;
  const named = open.map((id) => {
    const found = draft.find(id);
    if (found === undefined) return `${id}, which is not there`;
    return found.shelf === 'fridge' ? `${id}, which is in the fridge` : `${id} (${found.task.status})`;
  });
  const circle = circles.get(task.id);
  return circle === undefined ? `waits for ${named.join(', ')}` : `waits for itself: ${circle}`;
}

function isDone(draft: TreeDraft, id: string): boolean {
  return draft.archived.has(id) || draft.find(id)?.shelf === 'done';
}
