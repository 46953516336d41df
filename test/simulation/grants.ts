import type { JsonObject } from '../../src/kernel/json.ts';
import { pairNamed } from './claims/rules.ts';
import { areaNamed } from './model-areas.ts';
import type { Call } from './world.ts';

/** What each connection was last told about its own grants, worked out from its answers alone. */
export class Grants {
  readonly #known = new Map<string, Map<string, number>>();

  /** The grants that a call means: what it names, else what its connection has. Acquiring means only what it names. */
  meant(session_id: string, operation: string, input: JsonObject): Map<string, number> {
    const known = this.#of(session_id);
    const meant = new Map<string, number>();
    for (const item of itemsOf(input)) {
      const key = keyOf(item);
      const isNew = operation === 'acquire_lock' || operation === 'claim_edge';
      const token = item.fencing_token ?? (isNew ? undefined : known.get(key));
      if (typeof token === 'number') meant.set(key, token);
    }
    return meant;
  }

  /** `meant` is what the call meant when it was made: an answer that comes again may end an older grant than is known. */
  learn(
    { session_id, operation, input }: Call,
    meant: ReadonlyMap<string, number>,
    answer: JsonObject,
  ): void {
    const known = this.#of(session_id);
    const items = (answer.tasks ?? answer.results ?? answer.locks ?? [answer]) as JsonObject[];
    for (const item of items) {
      // A convergence that waits for a person names the grant that it waits with.
      const isHeld = item.action === 'convergence_escalated' && item.fencing_token !== undefined;
      if (item.success === false && !isHeld) continue;
      const key = keyOf({ ...input, ...item });
      if (isHeld || /acquire|get|renew|claim/.test(operation))
        known.set(key, Math.max(item.fencing_token as number, known.get(key) ?? 0));
      const ended = (item.fencing_token as number | undefined) ?? meant.get(key) ?? Number.POSITIVE_INFINITY;
      if (!isHeld && /release|complete|converge/.test(operation) && (known.get(key) ?? 0) <= ended)
        known.delete(key);
    }
  }

  #of(session_id: string): Map<string, number> {
    let known = this.#known.get(session_id);
    if (known === undefined) {
      known = new Map();
      this.#known.set(session_id, known);
    }
    return known;
  }
}

function itemsOf({ items, file_paths, ...input }: JsonObject): JsonObject[] {
  if (file_paths !== undefined) return (file_paths as string[]).map((file_path) => ({ file_path }));
  return (items as JsonObject[] | undefined) ?? [input];
}

function keyOf({ file_path, task_id, feature, edge }: JsonObject): string {
  if (typeof feature === 'string') return `claim/${pairNamed(feature, String(edge))}`;
  return typeof file_path === 'string' ? `lock/${areaNamed(file_path)}` : `task/${task_id}`;
}
