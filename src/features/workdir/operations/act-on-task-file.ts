import type { JsonObject } from '../../../kernel/json.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import { errorCode } from '../../../storage/real-path.ts';
import { conflictsOf } from '../conflicts.ts';
import { Meanwhile, reasonOf, TaskFolder } from '../folder/task-folder.ts';
import { inTurn } from '../folder/turn.ts';
import type { TaskFile } from '../task-file.ts';
import { ownerOf, type VerbCall, type VerbPlan } from '../verbs.ts';
import { meantId, type WorkPlace, workPlace } from './workdir-place.ts';

export type Decide = (call: VerbCall) => VerbPlan;

/**
 * One verb on one task: read, decided and carried out in its turn, step by step, as long as the file has not
 * changed. `action` is the word for it in the answer.
 */
export async function act(step: Step, given: string, action: string, decide: Decide): Promise<JsonObject> {
  const place = workPlace(step);
  if ('success' in place) return place;
  const task_id = meantId(place.tree, given);
  if (typeof task_id !== 'string') return task_id;
  const file = fileOf(place, task_id);
  if ('success' in file) return file;
  const refusal = notTheirs(step, file);
  if (refusal !== undefined) return refusal;
  try {
    return await inTurn(place.root, file.path, step.now_ms(), async () => {
      // To the second, as in the files.
      const now_ms = Math.floor(step.now_ms() / 1000) * 1000;
      const plan = decide({ file, by: step.caller.agent_id, now_ms });
      if ('wrong' in plan) return wrongStatus(place, file, plan.wrong);
      await carryOut(place, file, plan);
      return answerFor(place, file, plan.steps, action);
    });
  } catch (error) {
    return notDone(task_id, error);
  }
}

function wrongStatus({ shown }: WorkPlace, { task, path }: TaskFile, why: string): Refusal {
  return refuse('wrong_status', `${task.id}: ${why}`, {
    task_id: task.id,
    status: task.status,
    path: shown(path),
  });
}

async function carryOut({ root, tree }: WorkPlace, file: TaskFile, { steps }: { steps: PlanSteps }) {
  const folder = new TaskFolder(root, tree.texts);
  try {
    // An interrupted move has left two names. If one of them were changed, it could not be told which is meant.
    const twin = tree.twins.find(([, newer]) => newer === file.path);
    if (twin !== undefined) await folder.drop(...twin);
    let { path } = file;
    for (const each of steps) {
      if (each.kind === 'move') {
        await folder.move(path, each.to);
        path = each.to;
      } else if (path === file.path) await folder.update(path, each.changes);
      else await afterMove(folder, path, each.changes);
    }
  } finally {
    await folder.sync();
  }
}

type PlanSteps = Extract<VerbPlan, { steps: unknown }>['steps'];

/** Its folder says the same already: a faster pass has written it into the file, or the next one will. */
async function afterMove(folder: TaskFolder, ...[path, changes]: Parameters<TaskFolder['update']>) {
  try {
    await folder.update(path, changes);
  } catch (error) {
    if (!(error instanceof Meanwhile) && errorCode(error) !== 'ENOENT') throw error;
  }
}

function answerFor({ tree, shown }: WorkPlace, file: TaskFile, steps: PlanSteps, action: string): JsonObject {
  let { path, task } = file;
  let retry_count = task.error?.retry_count;
  for (const each of steps)
    if (each.kind === 'move') path = each.to;
    else {
      task = { ...task, status: each.changes.status ?? task.status };
      retry_count = each.changes.retry_count ?? retry_count;
    }
  const conflicts = action === 'started' ? conflictsWith({ ...file, task }, tree.files) : [];
  return {
    success: true,
    action: steps.length === 0 ? `already_${action}` : action,
    task_id: task.id,
    agent: ownerOf(file),
    status: task.status,
    path: shown(path),
    ...(retry_count === undefined ? {} : { retry_count }),
    ...(conflicts.length === 0 ? {} : { conflicts }),
  };
}

function conflictsWith(file: TaskFile, files: readonly TaskFile[]): JsonObject[] {
  const others = files.filter(
    ({ shelf, task }) => shelf === 'assigned' && task.status === 'in_progress' && task.id !== file.task.id,
  );
  return conflictsOf([...others, file])
    .filter(({ tasks }) => tasks.includes(file.task.id))
    .map(({ artefact, tasks }) => ({ artefact, tasks: [...tasks] }));
}

function fileOf({ tree, shown }: WorkPlace, task_id: string): TaskFile | Refusal {
  const found = tree.files.find(({ task }) => task.id === task_id);
  if (found !== undefined) return found;
  const archived = tree.archived.get(task_id);
  if (archived === undefined) return changed(task_id, 'it is not there any more');
  return refuse('wrong_status', `${task_id}: It is archived.`, {
    task_id,
    status: 'archived',
    path: shown(archived),
  });
}

/** An agent may act on its own tasks: those for its name, or for its role. */
function notTheirs({ authority, caller, agent_role }: Step, file: TaskFile): Refusal | undefined {
  const agent = ownerOf(file);
  if (authority !== 'agent' || agent === caller.agent_id || agent === agent_role) return undefined;
  const role = agent_role === undefined ? '' : ` (${agent_role})`;
  const message = `${file.task.id} is for ${agent}, and you are ${caller.agent_id}${role}.`;
  return refuse('not_assignee', message, { task_id: file.task.id, agent });
}

function notDone(task_id: string, error: unknown): Refusal {
  const code = errorCode(error);
  if (code === 'ENOSPC') return refuse('disk_full', `${task_id} can’t be written: the disk is full.`);
  if (code !== '' && code !== 'ENOENT')
    return refuse('state_unavailable', `${task_id} can’t be written (${code}).`);
  return changed(task_id, reasonOf(error));
}

function changed(task_id: string, reason: string): Refusal {
  return refuse('task_changed', `${task_id} was left as it is: ${reason}.`, { task_id });
}
