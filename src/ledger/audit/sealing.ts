import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';
import type { LogEntry } from '../log.ts';
import type { Store } from '../store-port.ts';
import { makeSeal, packLeaves, type Seal } from './seal.ts';

const SEGMENT_ROWS = 1000;
/**
 * A segment spans a day at most; otherwise retention could not remove old rows that share one with new rows.
 */
const SEGMENT_SPAN_MS = 24 * 3600 * 1000;
/** Older rows are sealed even if they are few. */
const SEAL_AFTER_MS = 60_000;
const LOOK_EVERY_MS = 15_000;
const CATCH_UP_EVERY_MS = 50;
/** Catching up takes a fifth of the time at most. */
const PAUSES_PER_WORK = 4;
/** Rows hashed before other work in this process gets its turn. */
const ROWS_AT_ONCE = 100;

export interface SealOptions {
  /** Everything up to the end, not only what is complete. */
  readonly all?: boolean | undefined;
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Seals what is complete: full segments, and rows that have waited for long enough. Any number of processes
 * may do so at once: a seal is added only behind the one it was made for. Returns how many rows were sealed
 * here.
 */
export async function seal(
  store: Store,
  project: string,
  clock: Clock,
  options: SealOptions = {},
): Promise<number> {
  const all = options.all === true;
  // The end as it is now: while other processes keep writing, this would otherwise seal row by row and never
  // finish.
  const end = all ? (await store.read(project, 0, 1)).safe : 0;
  for (let rows = 0; ; ) {
    const [before] = await store.trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
    if (all && before !== undefined && before.last >= end) return rows;
    const sealed = await sealNext(store, project, clock, before, all);
    if (sealed === undefined) return rows;
    rows += sealed;
    options.onProgress?.(rows);
  }
}

/** One segment. Undefined: there is nothing to seal. 0: another process was quicker. */
async function sealNext(
  store: Store,
  project: string,
  clock: Clock,
  before: Seal | undefined,
  all: boolean,
): Promise<number | undefined> {
  if (!all && !(await isDue(store, project, before, clock))) return undefined;
  const { entries, leaves, full } = await gather(store, project, before?.last ?? 0);
  if (entries.length === 0 || !(all || full || isLate(entries[0], clock))) return undefined;
  const sealed = makeSeal(project, before, entries, leaves, clock.now_ms());
  return (await store.trail.addSeal(sealed, leaves)) ? entries.length : 0;
}

/** Looks at one row: most of the time there is nothing to do. */
async function isDue(store: Store, project: string, before: Seal | undefined, clock: Clock) {
  const after = before?.last ?? 0;
  const { entries, safe } = await store.read(project, after, 1);
  return entries.length > 0 && (safe - after >= SEGMENT_ROWS || isLate(entries[0], clock));
}

function isLate(oldest: LogEntry | undefined, clock: Clock): boolean {
  return oldest !== undefined && clock.now_ms() - oldest.at_ms >= SEAL_AFTER_MS;
}

interface Segment {
  readonly entries: LogEntry[];
  readonly leaves: Buffer;
  /** No further row belongs to it. */
  readonly full: boolean;
}

async function gather(store: Store, project: string, after: number): Promise<Segment> {
  const entries: LogEntry[] = [];
  const leaves: Buffer[] = [];
  let full = false;
  for (let position = after; !full; ) {
    const read = (await store.read(project, position, Math.min(ROWS_AT_ONCE, SEGMENT_ROWS - entries.length)))
      .entries;
    const first_ms = (entries[0] ?? read[0])?.at_ms ?? 0;
    const later = read.findIndex(({ at_ms }) => at_ms - first_ms > SEGMENT_SPAN_MS);
    const taken = later === -1 ? read : read.slice(0, later);
    entries.push(...taken);
    leaves.push(packLeaves(taken));
    if (read.length === 0) break;
    full = later !== -1 || entries.length === SEGMENT_ROWS;
    position = taken.at(-1)?.position ?? position;
    await new Promise(setImmediate);
  }
  return { entries, leaves: Buffer.concat(leaves), full };
}

/**
 * Seals from time to time as long as this process lives; failures are retried. Ends with the signal.
 *
 * Of the many processes that have one log open, one at a time catches up: each looks at times of its own, and
 * a process that finds another one was quicker leaves the rest to that one. When eight processes all hashed
 * the same rows, for one seal that counted, an eighth of the commits per second was left.
 */
export async function keepSealing(
  store: Store,
  project: string,
  { clock, random }: { readonly clock: Clock; readonly random: Pick<Random, 'fraction'> },
  signal: AbortSignal,
): Promise<void> {
  let pause_ms: number | undefined;
  while (!signal.aborted) {
    try {
      await clock.sleep(pause_ms ?? LOOK_EVERY_MS * (0.5 + random.fraction()), signal);
      const started_ms = clock.elapsed_ms();
      const [before] = await store.trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
      const sealed = (await sealNext(store, project, clock, before, false)) ?? 0;
      // A long log that was never sealed is caught up with little by little: callers are waiting for this
      // process.
      const worked_ms = clock.elapsed_ms() - started_ms;
      pause_ms = sealed === 0 ? undefined : Math.max(CATCH_UP_EVERY_MS, PAUSES_PER_WORK * worked_ms);
    } catch {
      // The store is away or the log is damaged: the callers that work with it are told, and `cox audit
      // verify` says more.
      pause_ms = undefined;
    }
  }
}
