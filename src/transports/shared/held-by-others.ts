import type { JsonObject } from '../../kernel/json.ts';
import { oneLine, quoted } from './quoted.ts';

/** A file that another agent holds: what the agent who wants to change it has to know. */
export interface HeldFile {
  readonly path: string;
  readonly held_by: string;
  readonly agent_type?: string | undefined;
  /** What the holder said it is for: another agent's words, shown in quotes. */
  readonly reason?: string | undefined;
  readonly expires_at?: string | undefined;
  /** The folder or glob that is held and that the file is part of. */
  readonly within?: string | undefined;
}

/** From the answer of `check_locks`: what others hold exclusively. */
export function heldByOthers(answer: JsonObject, agent_id: string): HeldFile[] {
  return ((answer.locks ?? []) as JsonObject[])
    .filter((lock) => lock.locked_by !== agent_id)
    .map((lock) => ({
      path: lock.file_path as string,
      held_by: lock.locked_by as string,
      agent_type: lock.agent_type as string | undefined,
      reason: lock.reason as string | undefined,
      expires_at: lock.expires_at as string | undefined,
    }));
}

/** From a refused `acquire_lock`: all holders in the way. */
export function inTheWay(refusal: JsonObject): HeldFile[] {
  return ((refusal.conflicts ?? [refusal]) as JsonObject[]).map((conflict) => ({
    path: conflict.file_path as string,
    held_by: conflict.locked_by as string,
    agent_type: conflict.agent_type as string | undefined,
    reason: conflict.lock_reason as string | undefined,
    expires_at: conflict.expires_at as string | undefined,
    within: conflict.overlaps as string | undefined,
  }));
}

const LISTED_MAX = 5;
const PATH_CHARS_MAX = 300;
const REASON_CHARS_MAX = 300;

/** One line per file: who, why, until when. */
export function describeHeld(held: readonly HeldFile[], now_ms: number): string {
  const lines = held
    .slice(0, LISTED_MAX)
    .map((file) => `${oneLine(file.path, PATH_CHARS_MAX)} is locked by ${holderOf(file, now_ms)}`);
  if (held.length > LISTED_MAX) lines.push(`and ${held.length - LISTED_MAX} more`);
  return lines.join('\n');
}

function holderOf({ held_by, agent_type, reason, expires_at, within }: HeldFile, now_ms: number): string {
  const kind = agent_type === undefined || agent_type === held_by ? '' : ` (${agent_type})`;
  const area = within === undefined ? '' : `, who holds ${oneLine(within, PATH_CHARS_MAX)},`;
  const until = expires_at === undefined ? '' : ` until ${expires_at}${inMinutes(expires_at, now_ms)}`;
  const why = reason === undefined ? '' : `: ${quoted(reason, REASON_CHARS_MAX)}`;
  return `${held_by}${kind}${area}${until}${why}`;
}

function inMinutes(expires_at: string, now_ms: number): string {
  const minutes = Math.ceil((Date.parse(expires_at) - now_ms) / 60_000);
  return minutes > 0 ? ` (${minutes} min)` : '';
}
