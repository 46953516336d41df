import { AUTOMATIC, acquireLock } from '../../features/locks/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode } from '../../kernel/refusal.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import { type HeldFile, inTheWay } from './held-by-others.ts';

/** Locks these for the agent because it has written them, or is about to: all or none. */
export async function acquireAutomatically(
  connection: Connection,
  file_paths: string[],
  ttl_minutes: number,
): Promise<JsonObject> {
  const input = { file_paths, reason: AUTOMATIC, ttl_minutes };
  const answer = await connection.performBuilt(acquireLock, input);
  // The session had been ended for its silence, and this very call has started it again.
  const wasAway = isRefusal(answer) && refusalCode(answer) === 'session_ended';
  return wasAway ? await connection.performBuilt(acquireLock, input) : answer;
}

export interface Locked {
  readonly locked: readonly string[];
  /** What other agents hold of them. */
  readonly held: readonly HeldFile[];
  /** What could not be asked for, and why. */
  readonly missed: readonly string[];
  readonly failure?: Refusal;
}

/** Locks what of these files is free, for files that have been written already: what is held by others is left out and told. */
export async function lockWhatIsFree(
  connection: Connection,
  keys: readonly string[],
  ttl_minutes: number,
): Promise<Locked> {
  const [locked, held, missed]: [string[], HeldFile[], string[]] = [[], [], []];
  let failure: Refusal | undefined;
  for (let start = 0; start < keys.length; start += limits.paths_per_call) {
    let wanted = keys.slice(start, start + limits.paths_per_call);
    while (wanted.length > 0) {
      const answer = await acquireAutomatically(connection, wanted.map(asPath), ttl_minutes);
      if (!isRefusal(answer)) {
        locked.push(...wanted);
        break;
      }
      const conflicts = refusalCode(answer) === 'blocked' ? inTheWay(answer) : [];
      held.push(...conflicts);
      const blocked = new Set(conflicts.map(({ path }) => path));
      const rest = wanted.filter((key) => !blocked.has(key));
      if (conflicts.length === 0) {
        missed.push(...wanted);
        failure = answer;
      }
      // Without progress it would go round for ever.
      if (rest.length === wanted.length) break;
      wanted = rest;
    }
  }
  return { locked, held, missed, ...(failure === undefined ? {} : { failure }) };
}

/** A key is readable as itself, except that one with a colon could be taken for a logical one. */
export function asPath(key: string): string {
  return key.startsWith('./') ? key : `./${key}`;
}
