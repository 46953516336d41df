import { join } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import { inLanes } from '../../../kernel/lanes.ts';
import { limits } from '../../../kernel/limits.ts';
import { type Decision, type Loaded, prefixed, type Range } from '../../../ledger/decision.ts';
import type { EntityKey } from '../../../ledger/entity.ts';
import type { Step } from '../../../runtime/operation.ts';
import { readBounded } from '../../../storage/read-bounded.ts';
import { writeHandoffOnce } from '../../handoffs/index.ts';
import {
  type FiledAs,
  filedGroups,
  filedTaskId,
  fileHandoffId,
  mirrorDeleted,
  mirrorFile,
  OPEN_STATUSES,
  settleDue,
  TASK,
  type TaskState,
  taskKey,
} from '../../queue/index.ts';
import { parseTask } from '../files/task-yaml.ts';
import { type ReadTree, readTree } from '../folder/task-tree.ts';
import { handOverOf, seenFile } from '../mirrored.ts';
import { isTaskName, stemOf, type TaskFile, type TreeProblem } from '../task-file.ts';
import { ownerOf } from '../verbs.ts';
import type { WorkdirSettings } from '../workdir-settings.ts';

/** All that mirroring needs of a store: reads, and commits of the product's own. */
export type MirrorPort = Pick<Step, 'find' | 'chore'>;

/** A work directory as it is now. */
export interface MirrorPlace {
  readonly root: string;
  /** Its name in the store: its path from the top of the workspace. */
  readonly directory: string;
  readonly settings: WorkdirSettings;
  readonly tree: ReadTree;
}

export interface Mirrored {
  /** The number of commits; 0 if nothing has changed. */
  readonly written: number;
  readonly problems: readonly TreeProblem[];
}

/** Each commit waits for the store most of the time. */
const LANES = 8;
const KEYS_AT_ONCE = 100;
const ROUNDS_MAX = 400;

type Chore = { readonly name: string; readonly decision: Decision<JsonObject> };

/**
 * Makes the store match the files, never the other way round. It reads first and commits only differences,
 * one task at a time: killed anywhere, the next pass continues. `archived` are the tasks that were just
 * archived.
 */
export async function mirrorTree(
  place: MirrorPlace,
  port: MirrorPort,
  archived: readonly string[] = [],
): Promise<Mirrored> {
  const look: Look = { ...place, linked: new Map(), belongs: new Map(), problems: [] };
  const open = await openTasks(place.directory, port);
  for (const { task_id, file } of open)
    if (file.filing === undefined && task_id !== filedTaskId(file.directory, file.id))
      look.linked.set(file.id, task_id);
  const gone = goneFrom(place, open, archived);
  const old = gone.archived.flatMap(([id, path]) => archivedFile(place, id, path));
  const chores = await choresFor(look, [...place.tree.files, ...old], port);
  chores.push(...gone.deleted.map(({ task_id, file }) => choreOf(mirrorDeleted(task_id, file, DELETED))));
  chores.push(...strays(open, look).map(({ task_id, file }) => choreOf(mirrorDeleted(task_id, file, STRAY))));
  return { written: await carryOut(chores, port), problems: look.problems };
}

const DELETED = 'Its file was deleted.';
const STRAY = 'Its file is another task.';

/** The same for one task that was just changed. */
export async function mirrorOne(place: MirrorPlace, port: MirrorPort, id: string): Promise<void> {
  const look: Look = { ...place, linked: new Map(), belongs: new Map(), problems: [] };
  const files = place.tree.files.filter(({ task }) => task.id === id);
  await carryOut(await choresFor(look, files, port), port);
}

/** A place while it is being compared. */
interface Look extends MirrorPlace {
  /** Open files that came from the queue. The store's record counts, even if the file can't be read. */
  readonly linked: Map<string, string>;
  /** The task that each file was found to belong to. */
  readonly belongs: Map<string, string>;
  readonly problems: TreeProblem[];
}

/** Open tasks whose file was found to belong to another task. */
function strays(open: readonly OpenTask[], { belongs }: Look): OpenTask[] {
  return open.filter(
    ({ task_id, file }) =>
      file.filing === undefined && belongs.has(file.id) && belongs.get(file.id) !== task_id,
  );
}

function choreOf(decision: Decision<JsonObject>, name = 'mirror_task_file'): Chore {
  return { name, decision };
}

async function choresFor(look: Look, files: readonly TaskFile[], port: MirrorPort): Promise<Chore[]> {
  const chores: Chore[] = [];
  const byId = new Map(look.tree.files.map((file) => [file.task.id, file]));
  const half = KEYS_AT_ONCE / 2;
  for (let start = 0; start < files.length; start += half) {
    const some = files.slice(start, start + half);
    const handOvers = some.flatMap((file) => handOverChore(look, file, byId));
    const { loaded, now_ms } = await port.find({ keys: keysOf(look, some, handOvers) });
    const decisions = [...some.map((file) => fileChore(look, file, loaded)), ...handOvers];
    chores.push(...decisions.filter(({ decision }) => decision.decide(loaded, now_ms).verdict === 'commit'));
  }
  return chores;
}

function keysOf({ directory, linked }: Look, files: readonly TaskFile[], others: readonly Chore[]) {
  const keys = new Map<string, EntityKey>();
  for (const { task } of files)
    for (const id of [filedTaskId(directory, task.id), task.work_id, linked.get(task.id)])
      if (id !== undefined && id !== '') keys.set(id, taskKey(id));
  for (const { decision } of others) for (const key of decision.needs.keys ?? []) keys.set(key.id, key);
  return [...keys.values()];
}

/** A `work_id` counts only if the task names the file as well: a copied or invented one changes no other task. */
function fileChore(look: Look, file: TaskFile, loaded: Loaded): Chore {
  const { directory, settings } = look;
  const { id } = file.task;
  const work_id = file.task.work_id || undefined;
  const named = work_id === undefined ? undefined : loaded.get<TaskState>(taskKey(work_id))?.state.file;
  const isNamed = named?.directory === directory && isMeant(look, file, named);
  if (work_id !== undefined && !isNamed)
    look.problems.push({
      file: file.path,
      line: 1,
      field: 'work_id',
      reason: `task ${work_id} of the queue is not this file: ignored`,
    });
  const own = look.linked.get(id) ?? filedTaskId(directory, id);
  const task_id = isNamed && work_id !== undefined ? work_id : own;
  look.belongs.set(id, task_id);
  return choreOf(mirrorFile(seenFile(file, { task_id, directory }, settings)));
}

/** Under its own name; or, before it was first mirrored, under the name that it has been given meanwhile. */
function isMeant({ tree }: MirrorPlace, file: TaskFile, { id, filing }: FiledAs): boolean {
  if (file.task.id === id) return true;
  if (filing === undefined) return false;
  const same = tree.files.filter(({ task }) => task.work_id === file.task.work_id);
  return same[0] === file && same.every(({ task }) => task.id !== id);
}

function handOverChore(
  { directory }: MirrorPlace,
  file: TaskFile,
  byId: ReadonlyMap<string, TaskFile>,
): Chore[] {
  const handoff = handOverOf(file, byId.get(file.task.follow_up ?? ''));
  if (handoff === undefined) return [];
  const { id } = file.task;
  const author = { agent_id: ownerOf(file), session_id: id };
  return [choreOf(writeHandoffOnce(fileHandoffId(directory, id), author, handoff), 'mirror_task_handoff')];
}

/**
 * Several at once. A commit that ends a task also releases the tasks that wait for it. Answers how many
 * commits were made.
 */
async function carryOut(chores: readonly Chore[], port: MirrorPort): Promise<number> {
  let written = 0;
  let awaited = false;
  await inLanes(LANES, chores, async ({ name, decision }) => {
    const outcome = await port.chore(name, decision);
    // Refused: another pass was faster.
    if (outcome.status !== 'committed') return;
    written += 1;
    awaited ||= outcome.answer.has_dependents === true;
  });
  if (awaited) await settle(port);
  return written;
}

/** Releases what is due. If a round is interrupted, the next request for work continues it. */
export async function settle(port: MirrorPort): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1)
    if ((await port.chore('settle_due', settleDue())).status !== 'committed') return;
}

export interface OpenTask {
  readonly task_id: string;
  readonly file: FiledAs;
  readonly state: TaskState;
}

interface Gone {
  readonly deleted: readonly OpenTask[];
  /** Those in the archive, each with its file. */
  readonly archived: readonly (readonly [id: string, path: string])[];
}

/**
 * Tasks that are open in the store and not in the tree. Missing ones are looked for once more after the store
 * was read. Otherwise a task that another process has created and mirrored since we read the tree would be
 * taken for deleted.
 */
function goneFrom(place: MirrorPlace, open: readonly OpenTask[], archived: readonly string[]): Gone {
  const here = new Set(place.tree.files.map(({ task }) => task.id));
  const missing = open.filter(({ file }) => !here.has(file.id));
  const ids = new Set([...missing.map(({ file }) => file.id), ...archived]);
  if (ids.size === 0) return { deleted: [], archived: [] };
  const tree = readTree(place.root, ids);
  const names = namesIn(tree);
  // A folder that can't be read now says nothing about its contents.
  const hidden = tree.problems.flatMap(({ file }) => (isTaskName(file) ? [] : [`${file}/`]));
  return {
    archived: [...ids].flatMap((id) => {
      const path = tree.archived.get(id);
      return path === undefined ? [] : [[id, path] as const];
    }),
    deleted: missing.filter(
      ({ file: { id, path, filing } }) =>
        filing === undefined &&
        !names.has(id) &&
        !tree.archived.has(id) &&
        !hidden.some((folder) => path.startsWith(folder)),
    ),
  };
}

/** Includes files that can't be read, and the archive: those are not gone. */
export function namesIn({ occupied }: ReadTree): ReadonlySet<string> {
  return new Set([...occupied].filter(isTaskName).map((path) => stemOf(path)));
}

/** The open tasks of a directory in the store, page by page. */
export async function openTasks(directory: string, port: Pick<MirrorPort, 'find'>): Promise<OpenTask[]> {
  const found: OpenTask[] = [];
  const page = (prefix: string, from = prefix): Range => ({
    ...prefixed('group', TASK, prefix, limits.range_rows_max),
    from,
  });
  let left = OPEN_STATUSES.map((status) => filedGroups(status, directory)).map((prefix) => ({
    prefix,
    range: page(prefix),
  }));
  while (left.length > 0) {
    const { loaded } = await port.find({ ranges: left.map(({ range }) => range) });
    left = left.flatMap(({ prefix, range }) => {
      const records = loaded.list<TaskState>(range);
      for (const { id, state } of records)
        if (state.file !== undefined) found.push({ task_id: id, file: state.file, state });
      const last = records.length < range.limit ? undefined : records.at(-1);
      return last === undefined ? [] : [{ prefix, range: page(prefix, `${prefix}${last.id}\u0001`) }];
    });
  }
  return found;
}

/** What the file says about its end; a pass itself does not read the archive. */
function archivedFile({ root }: MirrorPlace, id: string, path: string): TaskFile[] {
  const read = readBounded(join(root, path), { links: false });
  const parsed = read.ok ? parseTask(read.text) : undefined;
  if (parsed?.ok !== true || parsed.task.id !== id) return [];
  return [{ path, shelf: 'done', task: parsed.task }];
}
