import { digest, uuidFromKey } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';

/** What a task's file says of it, in the words of work directories; `frozen` and `deleted` are places. */
export type FileStatus = 'new' | 'assigned' | 'in_progress' | 'done' | 'error' | 'frozen' | 'deleted';

/** Where a task lies that is a file. */
export interface FiledAs {
  /** The work directory, from the top of the workspace. */
  directory: string;
  /** The file's name without its ending. */
  id: string;
  /** From the work directory. */
  path: string;
  agent: string;
  status: FileStatus;
  started_by?: string | undefined;
  started_at_ms?: number | undefined;
  /** In progress for longer it is stuck. */
  stalls_at_ms?: number | undefined;
  /** Other tasks of the directory that it waits for, by their names. */
  depends_on?: string[] | undefined;
  /** Somebody is writing the file: until then nobody else does. */
  filing?: Filing | undefined;
}

export interface Filing {
  by: string;
  until_ms: number;
}

/** What a mirror repeats of a file beside where it lies. */
export interface FiledFields {
  description?: string;
  priority?: number;
  files?: string[];
  /** What it says of its end, where only that has changed; null: nothing any more. */
  result?: Json;
  error_message?: string | null;
}

/** As somebody at the top of the workspace would type it. */
export function filedPath({ directory, path }: Pick<FiledAs, 'directory' | 'path'>): string {
  return directory === '.' ? path : `${directory}/${path}`;
}

/** The one task that this file is, however often it is looked at. */
export function filedTaskId(directory: string, file_id: string): string {
  return uuidFromKey(`task file\0${directory}\0${file_id}`);
}

export function fileHandoffId(directory: string, file_id: string): string {
  return uuidFromKey(`task file handoff\0${directory}\0${file_id}`);
}

/** The open ones of all directories stand under their status: what is stuck is found first, however many wait. */
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

/** What a task has of it. */
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
