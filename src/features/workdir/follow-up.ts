import type { FollowUp, TreeDraft } from './task-actions.ts';
import { compare, doneAt_ms, type WorkTask } from './task-file.ts';
import { freeId, inboxPath, stemOf } from './task-name.ts';

/**
 * A task that is done and names a next agent is followed by one task for that agent. There is only one, since
 * its name follows from its parent. [DIR-2]
 */
export function chainDone(draft: TreeDraft, now_ms: number): void {
  const parents = draft.on('done').filter(({ task }) => isOpen(task));
  if (parents.length === 0) return;
  const known = followUps(draft);
  for (const parent of parents.sort((a, b) => compare(a.task.id, b.task.id))) {
    const { id } = parent.task;
    const before = known.get(id);
    if (before !== undefined) draft.update(parent, { follow_up: before }, `${before} follows it already`);
    else {
      const made = followUp(draft, parent.task, now_ms);
      // First the task is made, then its parent names it. Killed in between, the next pass finds it by its parent.
      draft.create(inboxPath(made.id), parent.path, made, `${id} is done, ${made.agent} is next`);
      draft.update(parent, { follow_up: made.id }, `${made.id} follows it`);
    }
  }
}

function isOpen({ result, follow_up }: WorkTask): boolean {
  return result?.next_agent !== undefined && follow_up === undefined;
}

/** The follow-up of each task, made by us or by an earlier coordinator; the first one counts. */
function followUps(draft: TreeDraft): Map<string, string> {
  const found = new Map(draft.known_follow_ups);
  const files = [...draft.files()].sort((a, b) => compare(a.task.id, b.task.id));
  for (const { task } of files)
    if (task.previous_task !== undefined && !found.has(task.previous_task))
      found.set(task.previous_task, task.id);
  return found;
}

function followUp(draft: TreeDraft, parent: WorkTask, now_ms: number): FollowUp {
  const { result } = parent;
  const agent = result?.next_agent ?? '';
  const title = result?.next_task_title ?? `Follow-up to ${parent.id}`;
  return {
    // From the parent alone: it does not depend on the minute in which a pass runs.
    id: freeId(
      stemOf(doneAt_ms(parent) ?? 0, agent, title, 'follow-up'),
      // Two parents may be done in the same minute and ask for the same.
      (id) => draft.isTaken(id) || draft.isOccupied(inboxPath(id)),
    ),
    agent,
    title,
    artefacts: result?.next_artefacts ?? parent.artefacts,
    priority: parent.priority,
    repo: parent.repo,
    branch: parent.branch,
    notes: result?.next_task_notes ?? [],
    previous_task: parent.id,
    previous_agent: parent.agent,
    created_at_ms: now_ms,
  };
}
