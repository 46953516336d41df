import { digest, uuidFromKey } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';

/** What a task's file says about it, in the words of work directories; `frozen` and `deleted` are places. */
export type FileStatus = 'new' | 'assigned' | 'in_progress' | 'done' | 'error' | 'frozen' | 'deleted';

/** Where the file of a task lies. */
export interface FiledAs {
  /** The work directory, relative to the root of the workspace. */
  directory: string;
  /** The file's name without its extension. */
  id: string;
  /** Relative to the work directory. */
  path: string;
  agent: string;
  status: FileStatus;
  started_by?: string | undefined;
  started_at_ms?: number | undefined;
  /** In progress beyond this time, it counts as stuck. */
  stalls_at_ms?: number | undefined;
  /** Other tasks of the directory that it waits for, by name. */
  depends_on?: string[] | undefined;
  /** A process is writing the file: until then no other process does. */
  filing?: Filing | undefined;
}

export interface Filing {
  by: string;
  until_ms: number;
}

/** What a mirror copies from a file besides its place. */
export interface FiledFields {
  description?: string;
  priority?: number;
  files?: string[];
  /** What it says about its end, where only that has changed; null: nothing any more. */
  result?: Json;
  error_message?: string | null;
}

/** As a person at the root of the workspace would type it. */
export function filedPath({ directory, path }: Pick<FiledAs, 'directory' | 'path'>): string {
  return directory === '.' ? path : `${directory}/${path}`;
}

/** The one task id for this file, however often it is read. */
export function filedTaskId(directory: string, file_id: string): string {
  return uuidFromKey(`task file\0${directory}\0${file_id}`);
}

export function fileHandoffId(directory: string, file_id: string): string {
  return uuidFromKey(`task file handoff\0${directory}\0${file_id}`);
}

/** The open tasks of all directories are grouped by status: stuck ones are found first, however many wait. */
const FILED = 'filed/';
export const OPEN_STATUSES = ['error', 'in_progress', 'assigned', 'new'] as const;
export type OpenStatus = (typeof OPEN_STATUSES)[number];

export function filedGroups(status: OpenStatus, directory?: string): string {
  return `${FILED}${status}/${directory === undefined ? '' : `${digest(directory)}/`}`;
}

export function filedGroup(
  { status, file }: { readonly status: string; readonly file?: FiledAs | undefined },
  id: string,
): string | undefined {
  const open = OPEN_STATUSES.find((each) => each === file?.status);
  if (file === undefined || open === undefined || !['filed', 'failed'].includes(status)) return undefined;
  return `${filedGroups(open, file.directory)}${id}`;
}

/** What a task stores of it. */
interface FiledState extends Omit<FiledFields, 'result' | 'error_message'> {
  result?: Json | undefined;
  error_message?: string | undefined;
  file?: FiledAs;
}

/** As events carry it: where it lies now, and what else has changed. */
export function filedFields({ data }: EventBody): FiledState {
  if (data.file === undefined) return {};
  const { result, error_message, ...changes } = (data.changes ?? {}) as FiledFields;
  return {
    ...changes,
    ...(result === undefined ? {} : { result: result ?? undefined }),
    ...(error_message === undefined ? {} : { error_message: error_message ?? undefined }),
    file: data.file as unknown as FiledAs,
  };
}
