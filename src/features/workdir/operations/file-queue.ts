import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { answerOf, prefixed, type Range } from '../../../ledger/decision.ts';
import type { Step } from '../../../runtime/operation.ts';
import {
  DUE,
  dueAt_ms,
  fileWork,
  READY,
  readyGroup,
  TASK,
  type TaskRecord,
  type TaskState,
  titleOf,
} from '../../queue/index.ts';
import { parseTask } from '../files/task-yaml.ts';
import { Meanwhile, TaskFolder } from '../folder/task-folder.ts';
import { newTaskFileText } from '../folder/task-text.ts';
import { readTree } from '../folder/task-tree.ts';
import { priorityWord } from '../mirrored.ts';
import type { TreeProblem } from '../task-file.ts';
import { freeId, inboxPath, stemOf } from '../task-name.ts';
import type { NewTaskFile } from '../verbs.ts';
import { type MirrorPlace, type MirrorPort, namesIn, openTasks, settle } from './mirror-tree.ts';

/**
 * For this long no other process writes the file. If the process that started it was killed, another one
 * takes over after that.
 */
const FILING_MS = 60_000;
const NAMES_MAX = 20;

export type FilingPort = MirrorPort & Pick<Step, 'elapsed_ms'>;

export interface Filer {
  readonly port: FilingPort;
  /** The writer: a new name each time, but the same for a retry. */
  readonly by: string;
}

export interface Taken {
  /** The files that were written. */
  readonly taken: readonly string[];
  readonly problems: readonly TreeProblem[];
}

/** A task to be written as a file. */
interface Wanted {
  readonly task_id: string;
  readonly state: TaskState;
  readonly agent: string;
}

/**
 * Tasks of the queue become files in the inbox: those that `take_from_queue` names, and those that a process
 * has started to write and not finished. The store records it first; the file follows.
 */
export async function takeFromQueue(place: MirrorPlace, filer: Filer): Promise<Taken> {
  const { problems, wanted } = await wantedFromQueue(place, filer.port);
  const names = new Set(namesIn(place.tree));
  const byWork = new Set(place.tree.files.map(({ task }) => task.work_id));
  const begun = (await openTasks(place.directory, filer.port)).filter(
    ({ task_id, file }) => file.filing !== undefined && !byWork.has(task_id),
  );
  const all = [
    ...begun.map(({ task_id, state, file }) => ({ task_id, state, agent: file.agent })),
    ...wanted,
  ];
  const taken: string[] = [];
  for (const each of all) {
    const filed = await fileTask(place, filer, each, names);
    if (!isRefusal(filed)) taken.push(inboxPath(String(filed.task_file)));
  }
  return { taken, problems };
}

async function wantedFromQueue(
  { tree, settings: { take_from_queue } }: MirrorPlace,
  port: MirrorPort,
): Promise<{ problems: TreeProblem[]; wanted: Wanted[] }> {
  const types = Object.keys(take_from_queue);
  if (types.length === 0) return { problems: [], wanted: [] };
  const problems = types.flatMap((type): TreeProblem[] => {
    const agent = take_from_queue[type] ?? '';
    if (tree.agents.includes(agent)) return [];
    const reason = `${agent} has no folder in assigned/: its tasks stay in the queue`;
    return [{ file: 'coordinator.yml', line: 1, field: `take_from_queue.${type}`, reason }];
  });
  const ranges = types.map((type) =>
    type === '*'
      ? prefixed('sort', TASK, READY, limits.range_rows_max)
      : prefixed('group', TASK, readyGroup(type), limits.range_rows_max),
  );
  const pending = await pendingTasks(ranges, port);
  const wanted = pending.flatMap(({ id, state }): Wanted[] => {
    const agent = take_from_queue[state.task_type] ?? take_from_queue['*'] ?? '';
    return tree.agents.includes(agent) ? [{ task_id: id, state, agent }] : [];
  });
  return { problems, wanted };
}

/** It may be that no agent asks for work here, so due tasks are released first. */
async function pendingTasks(ranges: readonly Range[], port: MirrorPort): Promise<TaskRecord[]> {
  const due = prefixed('sort', TASK, DUE, 1);
  const { loaded, now_ms } = await port.find({ ranges: [due] });
  if (loaded.list<TaskState>(due).some(({ state }) => dueAt_ms(state) <= now_ms)) await settle(port);
  const found = (await port.find({ ranges })).loaded;
  const byId = new Map(
    ranges.flatMap((range) => found.list<TaskState>(range)).map((each) => [each.id, each]),
  );
  return [...byId.values()];
}

/**
 * One task, in three steps: the store records that its file is being written; it is written; the next
 * mirroring finds it. Killed after the first step, it is written later. Its name is in the store before it is
 * on the disk, so it is never written twice.
 */
export async function fileTask(
  place: MirrorPlace,
  { port, by }: Filer,
  wanted: Wanted,
  names: Set<string>,
): Promise<JsonObject | Refusal> {
  const { task_id, state, agent } = wanted;
  const stem = stemOf(state.created_at_ms, agent, titleOf(state.description), 'task');
  const free = () => freeId(stem, (id) => names.has(id));
  let instead_of: string | undefined;
  for (let round = 0; round < NAMES_MAX; round += 1) {
    const started_ms = port.elapsed_ms();
    const command = { task_id, directory: place.directory, file_id: free(), agent, by, instead_of };
    const filing = answerOf(await port.chore('file_work', fileWork({ ...command, lease_ms: FILING_MS })));
    if (isRefusal(filing)) return filing;
    const task = taskFor(wanted, String(filing.task_file), String(filing.agent));
    names.add(task.id);
    // Another process has started it before us: the file may be there, and may have been moved on.
    const isOpen = filing.resumed !== true || writtenBefore(place.root, task) === 'no';
    if (isOpen && (await isWritten(place, task, () => port.elapsed_ms() - started_ms < FILING_MS / 2)))
      return filing;
    const there = writtenBefore(place.root, task);
    if (there === 'yes') return filing;
    // If the name belongs to another file, the next round files the task under a new name.
    instead_of = there === 'another' ? task.id : undefined;
  }
  return refuse('task_changed', 'Others create tasks of this name all the time; try again.', { task_id });
}

/** Whether the file is in the tree, also where it can not be read now; or the name is, with something else in it. */
function writtenBefore(root: string, { id, work_id }: NewTaskFile): 'yes' | 'no' | 'another' {
  const tree = readTree(root);
  if (tree.files.some(({ task }) => task.work_id === work_id)) return 'yes';
  const lines = [...tree.texts.values()].flatMap((text) => /^["']?work_id["']?:.*$/m.exec(text) ?? []);
  if (lines.some((line) => line.includes(work_id ?? id))) return 'yes';
  return namesIn(tree).has(id) ? 'another' : 'no';
}

/**
 * In the inbox, and only if the name is free. Not if we were stopped for so long that another process may
 * have written it.
 */
async function isWritten(
  { root, tree }: MirrorPlace,
  task: NewTaskFile,
  isInTime: () => boolean,
): Promise<boolean> {
  const folder = new TaskFolder(root, tree.texts);
  try {
    await folder.create(inboxPath(task.id), newTaskFileText(task), async () => {
      if (existsSync(join(root, `assigned/${task.agent}/${task.id}.yaml`)) || !isInTime())
        throw new Meanwhile(`${task.id} is there already`);
    });
  } catch (error) {
    if (error instanceof Meanwhile) return false;
    throw error;
  }
  await folder.sync();
  return true;
}

const NOTE_CHARS_MAX = limits.task_file_item_chars_max;

/** What could not be read back would be written again and again: then it has no words but its type. */
function taskFor(wanted: Wanted, id: string, agent: string): NewTaskFile {
  const task = wholeTaskFor(wanted, id, agent);
  if (parseTask(newTaskFileText(task)).ok) return task;
  const notes = [`All of it: cox work show ${wanted.task_id} --json`];
  return { ...task, title: wanted.state.task_type, artefacts: [], notes };
}

function wholeTaskFor({ task_id, state }: Wanted, id: string, agent: string): NewTaskFile {
  const title = titleOf(state.description);
  return {
    id,
    agent,
    title: title === '' ? state.task_type : title,
    priority: priorityWord(state.priority),
    artefacts: state.files,
    notes: notesOf(task_id, state, title),
    dependencies: [],
    created_by: state.submitted_by,
    created_at_ms: state.created_at_ms,
    work_id: task_id,
  };
}

/** What the title leaves out; if that is long, where to read it. */
function notesOf(task_id: string, { description, input_data }: TaskState, title: string): string[] {
  const input = input_data === undefined ? [] : [`Input: ${JSON.stringify(input_data)}`];
  const all = description.trim() === title ? input : [description, ...input];
  const fits = all.filter((note) => note.length <= NOTE_CHARS_MAX);
  return fits.length === all.length ? all : [...fits, `All of it: cox work show ${task_id} --json`];
}
