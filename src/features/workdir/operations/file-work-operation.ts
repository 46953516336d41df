import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import { filedPath, type TaskState, taskKey, unknownTask } from '../../queue/index.ts';
import { readSettings } from '../folder/root.ts';
import { readTree } from '../folder/task-tree.ts';
import { fileTask } from './file-queue.ts';
import { mirrorOne, namesIn } from './mirror-tree.ts';
import { directoryName, unknownAgent, workPlace } from './workdir-place.ts';

export interface FileWorkInput {
  work_id: string;
  agent: string;
}

/** One task of the queue becomes a file in the inbox, and is that file from then on. */
export async function fileWork({ work_id, agent }: FileWorkInput, step: Step): Promise<JsonObject> {
  const place = workPlace(step);
  if ('success' in place) return place;
  const settings = readSettings(place.root);
  if ('success' in settings) return settings;
  const refusal = unknownAgent(place.tree, agent);
  if (refusal !== undefined) return refusal;
  const directory = directoryName(step.root, place.root);
  const key = taskKey(work_id);
  const state = (await step.find({ keys: [key] })).loaded.get<TaskState>(key)?.state;
  if (state === undefined) return unknownTask(work_id);
  const { file } = state;
  if (state.status === 'filed' && file?.directory === directory && file.filing === undefined)
    return {
      success: true,
      action: 'already_filed',
      work_id,
      task_id: file.id,
      agent: file.agent,
      path: filedPath(file),
    };
  const here = { ...place, directory, settings };
  const filer = { port: step, by: step.ids.uuid() };
  const filed = await fileTask(here, filer, { task_id: work_id, state, agent }, new Set(namesIn(place.tree)));
  if (isRefusal(filed)) return filed;
  const task_id = String(filed.task_file);
  await mirrorOne({ ...here, tree: readTree(place.root) }, step, task_id);
  const path = place.shown(`inbox/${task_id}.yaml`);
  return { success: true, action: 'filed', work_id, task_id, agent: filed.agent, path };
}
