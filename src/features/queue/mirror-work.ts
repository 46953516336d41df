import { canonical, type JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { shorten } from '../../kernel/shorten.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type FiledAs, type FiledFields, filedPath } from './filed.ts';
import { isEnded, TASK, type TaskState, taskEvent, taskKey } from './state.ts';

/** The type of a task that began as a file. */
const FILE_TASK_TYPE = 'task';

/** A task's file as it was just read. Plain JSON. */
export interface SeenFile {
  readonly task_id: string;
  readonly status: 'filed' | 'completed' | 'failed' | 'cancelled';
  readonly title: string;
  /** As in the file; several numbers of the queue are one word there. */
  readonly priority: { readonly least: number; readonly usual: number; readonly most: number };
  readonly files: readonly string[];
  readonly result?: JsonObject | undefined;
  readonly error_message?: string | undefined;
  readonly file: FiledAs;
  /** The task may begin as a file; one that came from the queue already has a record. */
  readonly may_begin: boolean;
}

/**
 * Updates a file's record to what the file says. The record's own content does not count, but the record of
 * another file is never changed. If nothing differs, nothing is written.
 */
export function mirrorFile(seen: SeenFile): Decision<JsonObject> {
  const key = taskKey(seen.task_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const known = loaded.get<TaskState>(key)?.state;
      if (known === undefined && !seen.may_begin) return refused(notThisFile(seen.task_id));
      if (known !== undefined && !isFileOf(known, seen.file) && !isBeingFiled(known, seen.file))
        return refused(notThisFile(seen.task_id));
      const events = known === undefined ? [begin(seen, now_ms)] : [];
      const state = known ?? begun(seen, now_ms);
      events.push(...changed(state, seen));
      if (events.length === 0) return refused(nothingDiffers);
      const ends = isEnded(seen.status) && state.status !== seen.status && state.has_dependents;
      return commit(events, {
        success: true,
        task_id: seen.task_id,
        has_dependents: ends ? true : undefined,
      });
    },
  };
}

/**
 * Its file is gone, or belongs to another task. A file that is only about to be written does not count as
 * gone.
 */
export function mirrorDeleted(
  task_id: string,
  { directory, id }: Pick<FiledAs, 'directory' | 'id'>,
  error_message: string,
): Decision<JsonObject> {
  const key = taskKey(task_id);
  return {
    needs: { keys: [key] },
    decide(loaded) {
      const state = loaded.get<TaskState>(key)?.state;
      if (state?.file === undefined || !isFileOf(state, { directory, id }))
        return refused(notThisFile(task_id));
      const isOpen = state.status === 'filed' || state.status === 'failed';
      if (!isOpen || state.file.filing !== undefined) return refused(nothingDiffers);
      const file: FiledAs = { ...state.file, status: 'deleted' };
      const data = { error_message, file: plain(file) };
      const has_dependents = state.has_dependents ? true : undefined;
      return commit([taskEvent(task_id, 'task_cancelled', data)], { success: true, task_id, has_dependents });
    },
  };
}

const nothingDiffers = refuse('wrong_status', 'The mirror says what the file says.');

function notThisFile(task_id: string): Refusal {
  return refuse('unknown_task', `Task ${task_id} is not this file.`, { task_id });
}

function isFileOf(
  { file }: Pick<TaskState, 'file'>,
  { directory, id }: Pick<FiledAs, 'directory' | 'id'>,
): boolean {
  return file !== undefined && file.directory === directory && file.id === id;
}

/**
 * The file to be written has not been seen yet: the process that finds it under another name says which it
 * is.
 */
function isBeingFiled({ file }: TaskState, { directory }: FiledAs): boolean {
  return file?.filing !== undefined && file.directory === directory;
}

/** The refusal, for any caller, of changes that only a task's file can make. */
export function keptInFile(task_id: string, { file }: TaskState): Refusal | undefined {
  if (file === undefined) return undefined;
  const path = filedPath(file);
  return refuse('task_is_filed', `Task ${task_id} is a file, ${path}, and what that says counts.`, {
    task_id,
    path,
    task_file: file.id,
  });
}

function begun(seen: SeenFile, now_ms: number): TaskState {
  return {
    status: 'filed',
    task_type: FILE_TASK_TYPE,
    description: seen.title,
    priority: seen.priority.usual,
    files: [...seen.files],
    depends_on: [],
    unmet: [],
    failed_dependencies: [],
    max_attempts: 1,
    attempt_count: 0,
    submitted_by: seen.file.agent,
    created_at_ms: now_ms,
    has_dependents: false,
    releasing: false,
    file: seen.file,
  };
}

function begin(seen: SeenFile, now_ms: number): EventBody {
  const { status: _, file, ...task } = begun(seen, now_ms);
  return taskEvent(seen.task_id, 'task_filed', { task: plain(task), file: plain(file) });
}

function changed(state: TaskState, seen: SeenFile): EventBody[] {
  const isSame = state.status === seen.status;
  const changes = { ...changesIn(state, seen), ...(isSame ? wordsIn(state, seen) : {}) };
  const hasChanged = Object.keys(changes).length > 0;
  if (isSame && !hasChanged && same(state.file, seen.file)) return [];
  const from = state.file?.path;
  const data = plain({
    ...(hasChanged ? { changes } : {}),
    file: seen.file,
    ...(from === undefined || from === seen.file.path ? {} : { moved_from: from }),
  });
  // It ends once, however often its text is changed: the waiting tasks have already been told.
  if (isSame) return [{ kind: TASK, id: seen.task_id, type: 'task_file_changed', data }];
  const { agent: agent_id } = seen.file;
  const { error_message } = seen;
  switch (seen.status) {
    case 'filed':
      return [taskEvent(seen.task_id, 'task_filed', data)];
    case 'completed':
      return [taskEvent(seen.task_id, 'task_completed', { agent_id, result: seen.result, ...data })];
    case 'failed':
      return [taskEvent(seen.task_id, 'task_failed', { agent_id, error_message, ...data })];
    case 'cancelled':
      return [taskEvent(seen.task_id, 'task_cancelled', { error_message, ...data })];
  }
}

/** A number that matches the file's word, and a text that matches its title, stay as they are. */
function changesIn(state: TaskState, { title, priority, files }: SeenFile): FiledFields {
  const isMeant = state.priority >= priority.least && state.priority <= priority.most;
  return {
    ...(titleOf(state.description) === title || state.description === title ? {} : { description: title }),
    ...(isMeant ? {} : { priority: priority.usual }),
    ...(same(state.files, files) ? {} : { files: [...files] }),
  };
}

function wordsIn(state: TaskState, { result, error_message }: SeenFile): FiledFields {
  return {
    ...(same(state.result, result) ? {} : { result: result ?? null }),
    ...(same(state.error_message, error_message) ? {} : { error_message: error_message ?? null }),
  };
}

const TITLE_CHARS_MAX = 200;

/** A description may be pages long: its first line is the title in the file. */
export function titleOf(description: string): string {
  const [line = ''] = description.trim().split(/[\r\n]/, 1);
  const words = line.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return shorten(words, TITLE_CHARS_MAX);
}

function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function same(a: unknown, b: unknown): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}
