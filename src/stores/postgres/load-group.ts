import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Needs, Range } from '../../ledger/decision.ts';
import type { EntityRecord } from '../../ledger/entity.ts';
import type { Request } from '../../ledger/log.ts';
import type { Seen } from '../../ledger/optimistic.ts';
import type { LoadedSet } from '../../ledger/proposal.ts';
import type { Job } from './lane.ts';
import { type RawRecord, type RawSeen, seenOf } from './write-group.ts';

/**
 * Something to read: either for a decision, together with what is known of its operation id, or for a plain
 * read.
 */
export interface LoadJob extends Job {
  readonly project: string;
  readonly needs: Needs;
  readonly request: Request | undefined;
}

type RawState = readonly [version: number, born: number, state: JsonObject];

export interface LoadAnswer {
  readonly now: number;
  readonly keys: readonly (RawState | null)[] | null;
  readonly ranges: readonly (readonly RawRecord[] | null)[] | null;
  readonly seen: readonly RawSeen[] | null;
}

export interface LoadResult {
  readonly now_ms: number;
  readonly seen: Seen | undefined;
  fill(into: LoadedSet): void;
}

export function loadJob(project: string, needs: Needs, request: Request | undefined): LoadJob {
  const weight = 1 + (needs.keys?.length ?? 0) + 8 * (needs.ranges?.length ?? 0);
  return { project, needs, request, weight, writes: [], reads: [] };
}

export function loadValues(jobs: readonly LoadJob[]): unknown[] {
  const keys: object[] = [];
  const ranges: object[] = [];
  const operations: object[] = [];
  for (const [index, { project, needs, request }] of jobs.entries()) {
    for (const { kind, id } of needs.keys ?? []) keys.push({ i: keys.length, p: project, k: kind, d: id });
    for (const range of needs.ranges ?? []) ranges.push({ i: ranges.length, p: project, ...bounds(range) });
    // An id that we generated has not been used before.
    if (request !== undefined && request.input_digest !== '')
      operations.push({ i: index, p: project, a: request.actor.agent_id, o: request.operation_id });
  }
  return [keys, ranges, operations].map((list) => (list.length === 0 ? null : JSON.stringify(list)));
}

/**
 * A bound may contain NUL, which PostgreSQL's text can't hold. No stored key contains one, so `key < "ab\0…"`
 * means the same as `key <= "ab"`, and `key >= "ab\0…"` the same as `key > "ab"`.
 */
function bounds({ by, kind, from, before, limit }: Range) {
  const [start = ''] = from.split('\0', 1);
  const [end = ''] = before.split('\0', 1);
  const past = start.length < from.length;
  const withEnd = end.length < before.length;
  return { b: by, k: kind, f: start, x: past, t: end, y: withEnd, n: Math.min(limit, limits.range_rows_max) };
}

export function loadResults(jobs: readonly LoadJob[], answer: LoadAnswer): LoadResult[] {
  const seen = new Map(answer.seen?.map((raw) => [raw.i, seenOf(raw)]));
  let keysBefore = 0;
  let rangesBefore = 0;
  return jobs.map(({ needs }, index) => {
    const firstKey = keysBefore;
    const firstRange = rangesBefore;
    keysBefore += needs.keys?.length ?? 0;
    rangesBefore += needs.ranges?.length ?? 0;
    return {
      now_ms: answer.now,
      seen: seen.get(index),
      fill(into) {
        for (const [place, key] of (needs.keys ?? []).entries()) {
          const raw = answer.keys?.[firstKey + place] ?? null;
          into.put(key, raw === null ? undefined : recordOf(key.kind, [key.id, ...raw]));
        }
        for (const [place, range] of (needs.ranges ?? []).entries()) {
          const rows = answer.ranges?.[firstRange + place] ?? [];
          into.putList(
            range,
            rows.map((raw) => recordOf(range.kind, raw)),
          );
        }
      },
    };
  });
}

export function recordOf(kind: string, [id, version, born, state]: RawRecord): EntityRecord {
  return { kind, id, version, born, state };
}
