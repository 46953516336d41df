import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { prefixed } from '../../../ledger/decision.ts';
import type { Step } from '../../../runtime/operation.ts';
import { filedGroups, filedTaskId, OPEN_STATUSES, TASK, taskKey } from '../../queue/index.ts';
import { readSettings } from '../folder/root.ts';
import { mirrorOne } from './mirror-tree.ts';
import { directoryName, workPlace } from './workdir-place.ts';

/**
 * Shows the effect of a verb in the store at once, if the directory is mirrored there. The file has been
 * changed: an unavailable store does not alter that, and the next pass catches up.
 */
export async function mirrored(step: Step, answer: JsonObject): Promise<JsonObject> {
  if (isRefusal(answer) || typeof answer.task_id !== 'string') return answer;
  await mirrorNow(step, answer.task_id).catch(() => {});
  return answer;
}

async function mirrorNow(step: Step, id: string): Promise<void> {
  const place = workPlace(step);
  if ('success' in place) return;
  const settings = readSettings(place.root);
  if ('success' in settings) return;
  const directory = directoryName(step.root, place.root);
  if (!settings.mirror && !(await isKnown(step, directory, id))) return;
  await mirrorOne({ ...place, directory, settings }, step, id);
}

/** Whether the store has this task, or any other of the directory. */
async function isKnown(step: Step, directory: string, id: string): Promise<boolean> {
  const key = taskKey(filedTaskId(directory, id));
  const ranges = OPEN_STATUSES.map((status) => prefixed('group', TASK, filedGroups(status, directory), 1));
  const { loaded } = await step.find({ keys: [key], ranges });
  return loaded.get(key) !== undefined || ranges.some((range) => loaded.list(range).length > 0);
}
