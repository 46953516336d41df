import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { answerOf, commit } from '../../../ledger/decision.ts';
import type { Step } from '../../../runtime/operation.ts';
import { errorCode } from '../../../storage/real-path.ts';
import { Meanwhile, reasonOf, TaskFolder } from '../folder/task-folder.ts';
import { newTaskFileText } from '../folder/task-text.ts';
import { inTurn } from '../folder/turn.ts';
import type { TaskPriority } from '../task-file.ts';
import { freeId, inboxPath, stemOf } from '../task-name.ts';
import type { NewTaskFile } from '../verbs.ts';
import { unknownAgent, type WorkPlace, workPlace } from './workdir-place.ts';

export interface CreateTaskFileInput {
  agent: string;
  title: string;
  artefacts: string[];
  priority: TaskPriority;
  notes: string[];
  dependencies: string[];
}

const ROUNDS_MAX = 20;

/** Ends a creation before its file has its name. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * The text is on the disk before the store records which task this call creates, and the file gets its name
 * last. A call with the same operation id means the same task, and creates it only if it does not exist yet.
 */
export async function createTaskFile(input: CreateTaskFileInput, step: Step): Promise<JsonObject> {
  const others = new Set<string>();
  let agreed_id: string | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const place = workPlace(step);
    if ('success' in place) return place;
    const refusal = agreed_id === undefined ? problemOf(place, input) : undefined;
    if (refusal !== undefined) return refusal;
    const task = taskFor(place, input, step, agreed_id, others);
    if (task.id === agreed_id && isTaken(place.tree, task.id)) return answer(place, task, 'already_created');
    try {
      return await inTurn(place.root, inboxPath(task.id), step.now_ms(), async () => {
        await write(place, task, async () => {
          agreed_id = await agreeOn(step, task.id);
          if (agreed_id !== task.id) throw new Meanwhile('it was created before');
        });
        return answer(place, task, 'created');
      });
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      if (!(error instanceof Meanwhile)) return unwritable(error);
      // The call that holds the turn for a name has the name.
      if (task.id !== agreed_id) others.add(task.id);
    }
  }
  return refuse('task_changed', 'Others create tasks of this name all the time; try again.');
}

async function write(
  { root, tree }: WorkPlace,
  task: NewTaskFile,
  agreed: () => Promise<void>,
): Promise<void> {
  const path = inboxPath(task.id);
  // Another call was faster between our look and our turn, and perhaps a pass was, too.
  for (const taken of [path, `assigned/${task.agent}/${task.id}.yaml`])
    if (existsSync(join(root, taken))) throw new Meanwhile(`${task.id} is there already`);
  const text = newTaskFileText(task);
  const bytes_max = limits.fleet_file_bytes_max;
  if (Buffer.byteLength(text) > bytes_max)
    throw new Refused(
      refuse('too_large', `The task would be larger than ${bytes_max} bytes.`, { field: 'notes' }),
    );
  const folder = new TaskFolder(root, tree.texts);
  await folder.create(path, text, agreed);
  await folder.sync();
}

/**
 * The first call with this operation id decides which task it is; without an operation id, each call is the
 * first.
 */
async function agreeOn(step: Step, task_id: string): Promise<string> {
  const decision = { needs: {}, decide: () => commit([], { success: true, task_id }) };
  const agreed: JsonObject = answerOf(await step.run(decision));
  if (isRefusal(agreed)) throw new Refused(agreed);
  return String(agreed.task_id);
}

function isTaken(tree: WorkPlace['tree'], id: string): boolean {
  if (tree.archived.has(id) || tree.files.some(({ task }) => task.id === id)) return true;
  // A file that can't be read takes the name as well.
  return [...tree.occupied].some((path) => path.endsWith(`/${id}.yaml`) || path.endsWith(`/${id}.yml`));
}

function taskFor(
  { tree }: WorkPlace,
  input: CreateTaskFileInput,
  step: Step,
  agreed_id: string | undefined,
  others: ReadonlySet<string>,
): NewTaskFile {
  const created_at_ms = step.now_ms();
  const { agent, title } = input;
  const stem = stemOf(created_at_ms, agent, title, 'task');
  const id = agreed_id ?? freeId(stem, (each) => others.has(each) || isTaken(tree, each));
  return { ...input, id, created_by: step.caller.agent_id, created_at_ms };
}

function problemOf({ tree }: WorkPlace, { agent, dependencies }: CreateTaskFileInput): Refusal | undefined {
  const refusal = unknownAgent(tree, agent);
  if (refusal !== undefined) return refusal;
  const known = new Set([...tree.files.map(({ task }) => task.id), ...tree.archived.keys()]);
  const unknown = dependencies.filter((id) => !known.has(id));
  if (unknown.length === 0) return undefined;
  return refuse('unknown_dependency', `There is no task ${unknown.join(', ')}.`, { unknown });
}

function answer({ shown }: WorkPlace, { id, agent }: NewTaskFile, action: string): JsonObject {
  return { success: true, action, task_id: id, agent, status: 'new', path: shown(inboxPath(id)) };
}

function unwritable(error: unknown): Refusal {
  const code = errorCode(error) === 'ENOSPC' ? 'disk_full' : 'state_unavailable';
  return refuse(code, `The task can’t be written: ${reasonOf(error)}.`);
}
