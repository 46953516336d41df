import type { LogEntry } from '../log.ts';
import type { Store } from '../store-port.ts';

/** A row may be large, and it is held twice while it is parsed. */
const ROWS_AT_ONCE = 250;
const SEALS_AT_ONCE = 500;

export interface Span {
  /** Rows after this position. */
  readonly after?: number | undefined;
  /** Rows up to and including this position. */
  readonly last?: number | undefined;
  readonly since_ms?: number | undefined;
  readonly until_ms?: number | undefined;
}

/**
 * The log forward, without the sealed segments whose times are out of range. A seal knows its oldest and
 * newest time, so this is exact whatever clocks did. Inside a segment every row is yielded; the reader checks
 * the times.
 */
export async function* rowsForward(
  store: Store,
  project: string,
  { after = 0, last = Number.MAX_SAFE_INTEGER, since_ms = 0, until_ms = Number.MAX_SAFE_INTEGER }: Span,
): AsyncGenerator<LogEntry> {
  let position = after;
  if (since_ms > 0 || until_ms < Number.MAX_SAFE_INTEGER)
    for await (const seal of sealsOf(store, project)) {
      if (seal.last <= position || seal.after >= last) continue;
      if (seal.newest_at_ms >= since_ms && seal.oldest_at_ms <= until_ms)
        yield* stretch(store, project, position, Math.min(seal.last, last));
      position = seal.last;
    }
  yield* stretch(store, project, position, last);
}

/**
 * A position after which no row with events has that time or an earlier one. Found from the seals, from the
 * end back, so that for a moment long ago not everything since is read; without seals nothing is certain.
 */
export async function lastLabelledBy(store: Store, project: string, at_ms: number): Promise<number> {
  const { trail } = store;
  const [newest] = await trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
  if (newest === undefined) return Number.MAX_SAFE_INTEGER;
  for await (const row of stretch(store, project, newest.last, Number.MAX_SAFE_INTEGER))
    if (row.events.length > 0 && row.at_ms <= at_ms) return Number.MAX_SAFE_INTEGER;
  for (let number = newest.number + 1; number > 1; ) {
    const seals = await trail.sealsBefore(project, number, SEALS_AT_ONCE);
    const found = seals.find((seal) => seal.oldest_at_ms <= at_ms);
    if (found !== undefined) return found.last;
    number = seals.at(-1)?.number ?? 0;
  }
  return 0;
}

async function* sealsOf({ trail }: Store, project: string) {
  for (let number = 0; ; ) {
    const seals = await trail.sealsAfter(project, number, SEALS_AT_ONCE);
    yield* seals;
    const newest = seals.at(-1);
    if (newest === undefined) return;
    number = newest.number;
  }
}

async function* stretch(
  store: Store,
  project: string,
  after: number,
  last: number,
): AsyncGenerator<LogEntry> {
  for (let position = after; position < last; ) {
    const { entries } = await store.read(project, position, Math.min(ROWS_AT_ONCE, last - position));
    for (const entry of entries) {
      if (entry.position > last) return;
      yield entry;
    }
    const newest = entries.at(-1);
    if (newest === undefined) return;
    position = newest.position;
  }
}
