import type { LogEntry } from '../log.ts';
import type { Store } from '../store-port.ts';
import type { Trail } from './audit-port.ts';
import { type AuditFilter, mayMatch } from './search-words.ts';

/** One call looks at no more than this many rows; the cursor continues from there. */
const ROWS_PER_CALL = 50_000;
/** Rows looked at in one go, so that a process that serves other processes is not held up. */
const ROWS_AT_ONCE = 2000;
const SEALS_AT_ONCE = 500;

export interface AuditQuery extends AuditFilter {
  /** Only rows before this position. */
  readonly below?: number | undefined;
  readonly limit: number;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: LogEntry[];
  /** Where to continue; undefined when there is nothing older. */
  readonly below: number | undefined;
}

/** Newest first. A sealed segment is read only if its seal says that it may contain a match. */
export async function search(trail: Trail, project: string, query: AuditQuery): Promise<AuditPage> {
  const entries: LogEntry[] = [];
  let below = query.below ?? Number.MAX_SAFE_INTEGER;
  let rows_left = ROWS_PER_CALL;
  for await (const { above, last } of stretches(trail, project, query, below)) {
    below = Math.min(below, last + 1);
    while (below > above + 1) {
      const stretch = {
        above,
        below,
        rows_max: Math.min(ROWS_AT_ONCE, rows_left),
        limit: query.limit - entries.length,
      };
      const scanned = await trail.scan(project, query, stretch);
      entries.push(...scanned.entries);
      const oldest = entries.at(-1);
      if (entries.length >= query.limit && oldest !== undefined) return { entries, below: oldest.position };
      rows_left -= Math.min(stretch.rows_max, below - 1 - scanned.reached);
      below = scanned.reached + 1;
      if (rows_left <= 0) return { entries, below };
      await new Promise(setImmediate);
    }
  }
  return { entries, below: undefined };
}

/** From the end of the log to its start: the part that is not sealed yet, then segment by segment. */
async function* stretches(trail: Trail, project: string, filter: AuditFilter, below: number) {
  const [newest] = await trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
  yield { above: newest?.last ?? 0, last: Number.MAX_SAFE_INTEGER - 1 };
  for (let number = (newest?.number ?? 0) + 1; number > 1; ) {
    const seals = await trail.sealsBefore(project, number, SEALS_AT_ONCE);
    for (const seal of seals)
      if (seal.after + 1 < below && mayMatch(seal, filter)) yield { above: seal.after, last: seal.last };
    number = seals.at(-1)?.number ?? 0;
  }
}

/** The rows of the log since a moment. */
export interface Window {
  /** There were more rows than asked for; only the newest are included. */
  readonly cut: boolean;
  /** In order. */
  readonly rows: AsyncIterable<LogEntry>;
}

/**
 * Segments that ended before the moment are not read at all, and of the rest no more than `rows_max` rows.
 */
export async function rowsSince(
  store: Store,
  project: string,
  since_ms: number,
  rows_max: number,
): Promise<Window> {
  const start = await positionBefore(store.trail, project, since_ms);
  const { safe } = await store.read(project, start, 1);
  const after = Math.max(start, safe - rows_max);
  return { cut: after > start, rows: forward(store, project, after, since_ms) };
}

async function* forward(store: Store, project: string, start: number, since_ms: number) {
  for (let after = start; ; ) {
    const { entries } = await store.read(project, after, ROWS_AT_ONCE);
    for (const entry of entries) if (entry.at_ms >= since_ms) yield entry;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.position;
    await new Promise(setImmediate);
  }
}

async function positionBefore(trail: Trail, project: string, since_ms: number): Promise<number> {
  for (let number = Number.MAX_SAFE_INTEGER; ; ) {
    const seals = await trail.sealsBefore(project, number, SEALS_AT_ONCE);
    // A clock may have been set back meanwhile, but hardly over a whole segment.
    const older = seals.find((seal) => seal.newest_at_ms < since_ms);
    if (older !== undefined) return older.last;
    const oldest = seals.at(-1);
    if (oldest === undefined) return 0;
    number = oldest.number;
  }
}
