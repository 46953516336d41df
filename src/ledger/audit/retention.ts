import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type Actor, type LogEntry, logRow } from '../log.ts';
import type { Store } from '../store-port.ts';
import { ARCHIVE, digestOf, kindOf, PRUNE, type RowKind, type Seal, unpackLeaves } from './seal.ts';
import { seal } from './sealing.ts';
import { describeRemoval } from './tombstone.ts';

const SEALS_AT_ONCE = 200;

/** The actor that removes, the store, and the minimum age of what is removed. */
export interface Retention {
  readonly store: Store;
  readonly project: string;
  readonly clock: Clock;
  readonly actor: Actor;
  readonly before_ms: number;
}

/** Rows leave the log in two ways: audit rows are pruned, rows with events are archived. */
interface Way {
  readonly mark: 'pruned_by' | 'archived_by';
  readonly operation: string;
  readonly takes: RowKind;
  count(seal: Seal): number;
}

const pruning: Way = {
  mark: 'pruned_by',
  operation: PRUNE,
  takes: 'quiet',
  count: ({ quiet_rows }) => quiet_rows,
};

const archiving: Way = {
  mark: 'archived_by',
  operation: ARCHIVE,
  takes: 'event',
  count: ({ event_rows }) => event_rows,
};

export interface Counted {
  segments: number;
  rows: number;
}

/** What `prune` would remove now. */
export async function countPrunable(retention: Retention): Promise<Counted> {
  const counted = { segments: 0, rows: 0 };
  for await (const each of segments(retention, pruning)) {
    counted.segments += 1;
    counted.rows += each.quiet_rows;
  }
  return counted;
}

/** Removes rows of reads and refusals, segment by segment. Rows with events stay. */
export async function prune(
  retention: Retention,
  onProgress: (rows: number) => void = () => {},
): Promise<Counted> {
  const counted = { segments: 0, rows: 0 };
  for await (const each of segments(retention, pruning)) {
    const rows = await sealedRows(retention, each, pruning);
    if (rows === undefined || !(await remove(retention, each, pruning, rows, {}))) continue;
    counted.segments += 1;
    counted.rows += rows.length;
    onProgress(counted.rows);
  }
  return counted;
}

/** The segments that can be archived, with their rows that have events. */
export async function* archivable(
  retention: Retention,
): AsyncIterable<{ seal: Seal; rows: readonly LogEntry[] }> {
  for await (const each of segments(retention, archiving)) {
    const rows = await sealedRows(retention, each, archiving);
    if (rows !== undefined) yield { seal: each, rows };
  }
}

/** Removes from one segment the rows that an archive holds. `archive` says where they went. */
export async function removeArchived(
  retention: Retention,
  each: Seal,
  rows: readonly LogEntry[],
  archive: JsonObject,
): Promise<boolean> {
  return await remove(retention, each, archiving, rows, archive);
}

/**
 * Sealed segments with something to remove, all of whose rows are old enough. Seals first, because old rows
 * might otherwise be in no segment.
 */
async function* segments(retention: Retention, way: Way): AsyncIterable<Seal> {
  const { store, project, clock, before_ms } = retention;
  await seal(store, project, clock, { all: true });
  for (let number = 0; ; ) {
    const seals = await store.trail.sealsAfter(project, number, SEALS_AT_ONCE);
    for (const each of seals)
      if (each[way.mark] === null && each.newest_at_ms < before_ms && way.count(each) > 0) yield each;
    const last = seals.at(-1);
    if (last === undefined) return;
    number = last.number;
  }
}

/**
 * Undefined: another process has just removed them. A damaged segment is evidence: nothing of it is removed,
 * nor archived as if it were intact.
 */
async function sealedRows(retention: Retention, each: Seal, way: Way): Promise<LogEntry[] | undefined> {
  const { store, project } = retention;
  const { number, after, last } = each;
  const packed = (await store.trail.leaves(project, number)) ?? Buffer.alloc(0);
  const sealed = new Map(unpackLeaves(packed).map(({ position, digest }) => [position, digest]));
  const rows = await store.trail.stored(project, after, last);
  const bad = rows.find(
    ({ position, entry, intact }) =>
      !intact || entry === undefined || sealed.get(position) !== digestOf(entry),
  );
  const taken = rows.flatMap(({ entry }) =>
    entry !== undefined && kindOf(entry) === way.takes ? [entry] : [],
  );
  if (bad === undefined && taken.length === way.count(each)) return taken;
  const [now] = await store.trail.sealsAfter(project, number - 1, 1);
  if (bad === undefined && now?.[way.mark] !== null) return undefined;
  const message = `Segment ${number} of the log is not what was sealed; nothing of it was removed. See \`cox audit verify\`.`;
  throw new StoreFailure('store_damaged', message, { details: { segment: number } });
}

async function remove(
  { store, project, clock, actor, before_ms }: Retention,
  { number, after, last }: Seal,
  { mark, operation }: Way,
  rows: readonly LogEntry[],
  details: JsonObject,
): Promise<boolean> {
  const packed = (await store.trail.leaves(project, number)) ?? Buffer.alloc(0);
  const positions = rows.map(({ position }) => position);
  const request = {
    project,
    actor,
    sequence: 0,
    operation,
    operation_id: '',
    input_digest: '',
    started_ms: clock.elapsed_ms(),
    parameters: { segment: number, after, last, before_ms },
  };
  const result = { success: true, ...details, ...describeRemoval(packed, new Set(positions)) };
  const row = logRow(request, result, [], clock.now_ms(), clock.elapsed_ms());
  return await store.trail.remove(project, { number, mark, positions, row });
}
