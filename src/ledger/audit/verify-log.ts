import { StoreFailure } from '../../kernel/refusal.ts';
import type { Store } from '../store-port.ts';
import type { StoredRow, Trail } from './audit-port.ts';
import { digestOf, type Leaf, type Seal, sealHash, unpackLeaves } from './seal.ts';
import { readTombstones, type Tombstone } from './tombstone.ts';

const SEALS_AT_ONCE = 100;
const TAIL_ROWS_AT_ONCE = 1000;

/** The first thing that is not as it was sealed. */
export interface Fault {
  readonly kind:
    | 'changed'
    | 'missing'
    | 'reordered'
    | 'added'
    | 'seal_changed'
    | 'seal_missing'
    | 'removal_unproven'
    | 'head_unknown'
    | 'file_damaged';
  readonly message: string;
  readonly segment?: number | undefined;
  readonly position?: number | undefined;
}

export interface Verification {
  readonly fault: Fault | undefined;
  readonly seals: number;
  readonly rows: number;
  /** Rows that retention has removed, each proven by a record in the log. */
  readonly removed: number;
  /** The end of the chain, as far as it is valid: to be kept outside the store, for `expect`. */
  readonly head: { readonly number: number; readonly hash: string; readonly position: number } | undefined;
  readonly tail: {
    readonly after: number;
    readonly rows: number;
    readonly oldest_at_ms: number | undefined;
  };
}

export interface VerifyOptions {
  /**
   * A head that was kept outside the store: the chain must contain it, or sealed history was cut off or
   * replaced.
   */
  readonly expect?: string | undefined;
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/** Recomputes the chain over all sealed rows, then checks the rest. Stops at the first fault. */
export async function verify(
  store: Store,
  project: string,
  options: VerifyOptions = {},
): Promise<Verification> {
  const { trail } = store;
  let before: Seal | undefined;
  let rows = 0;
  let removed = 0;
  let fault: Fault | undefined;
  let expected = options.expect === undefined;
  while (fault === undefined) {
    const seals = await trail.sealsAfter(project, before?.number ?? 0, SEALS_AT_ONCE);
    if (seals.length === 0) break;
    for (const seal of seals) {
      const checked = await checkSegment(trail, project, before, seal);
      fault = checked.fault;
      if (fault !== undefined) break;
      expected ||= seal.hash === options.expect;
      rows += checked.rows;
      removed += checked.removed;
      before = seal;
      options.onProgress?.(rows);
      await new Promise(setImmediate);
    }
  }
  const head =
    before === undefined ? undefined : { number: before.number, hash: before.hash, position: before.last };
  const [newest] = await trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
  const tail = await lookThroughTail(store, project, newest?.last ?? 0);
  fault ??= tail.fault ?? (await damageOf(trail));
  fault ??= expected ? undefined : unknownHead(options.expect ?? '', before);
  return { fault, seals: before?.number ?? 0, rows, removed, head, tail: tail.tail };
}

/** Pages that hold records or indexes have no checksums of ours. */
async function damageOf(trail: Trail): Promise<Fault | undefined> {
  const damage = await trail.damage?.();
  return damage === undefined
    ? undefined
    : { kind: 'file_damaged', message: `The store's file is damaged: ${damage}` };
}

function unknownHead(expect: string, last: Seal | undefined): Fault {
  const message = `No seal has the hash ${expect}; the newest is number ${last?.number ?? 0}. Sealed history was cut off or replaced since it was noted.`;
  return { kind: 'head_unknown', message };
}

interface Checked {
  readonly fault: Fault | undefined;
  readonly rows: number;
  readonly removed: number;
}

async function checkSegment(
  trail: Trail,
  project: string,
  before: Seal | undefined,
  seal: Seal,
): Promise<Checked> {
  const bad = (fault: Fault): Checked => ({ fault, rows: 0, removed: 0 });
  const number = (before?.number ?? 0) + 1;
  if (seal.number !== number)
    return bad({
      kind: 'seal_missing',
      segment: number,
      message: `Seal ${number} is missing; ${seal.number} follows.`,
    });
  const packed = await trail.leaves(project, number);
  if (packed === undefined || !isGenuine(seal, packed, before))
    return bad({
      kind: 'seal_changed',
      segment: number,
      message: `Seal ${number} is not what was sealed after seal ${number - 1}.`,
    });
  const leaves = unpackLeaves(packed);
  // There is nothing before the first row; a row found there counts as added.
  const after = number === 1 ? Number.MIN_SAFE_INTEGER : seal.after;
  const stored = await trail.stored(project, after, seal.last);
  const tombstones = await readTombstones(trail, project, seal, packed);
  if (!Array.isArray(tombstones)) return bad({ ...tombstones, segment: number });
  const fault = compare(leaves, stored, tombstones);
  if (fault !== undefined) return bad({ ...fault, segment: number });
  return { fault: undefined, rows: leaves.length, removed: leaves.length - stored.length };
}

function isGenuine(seal: Seal, packed: Buffer, before: Seal | undefined): boolean {
  return (
    seal.hash === sealHash(seal, packed) &&
    seal.previous === (before?.hash ?? '') &&
    seal.after === (before?.last ?? 0) &&
    unpackLeaves(packed).length === seal.rows
  );
}

/** Finds the first position at which the stored row is not the one that was sealed. */
function compare(
  leaves: readonly Leaf[],
  stored: readonly StoredRow[],
  tombstones: readonly Tombstone[],
): Fault | undefined {
  const sealed = new Map(leaves.map(({ position, digest }) => [position, digest]));
  const present = new Map(stored.map((row) => [row.position, row]));
  const digests = new Map(
    stored.map(({ position, entry }) => [position, entry === undefined ? '' : digestOf(entry)]),
  );
  const positions = [...new Set([...sealed.keys(), ...present.keys()])].sort((a, b) => a - b);
  for (const position of positions) {
    const digest = sealed.get(position);
    const row = present.get(position);
    if (digest === undefined)
      return { kind: 'added', position, message: `Row ${position} was added after its segment was sealed.` };
    const gone = row === undefined && tombstones.some((tombstone) => tombstone.removed.has(position));
    if (gone || (row?.intact && digests.get(position) === digest)) continue;
    const elsewhere = [...digests].find(([other, found]) => other !== position && found === digest);
    if (elsewhere !== undefined)
      return {
        kind: 'reordered',
        position,
        message: `What was sealed as row ${position} now stands at ${elsewhere[0]}.`,
      };
    return row === undefined
      ? { kind: 'missing', position, message: `Row ${position} is missing, and nothing records its removal.` }
      : { kind: 'changed', position, message: `Row ${position} was changed after it was sealed.` };
  }
  return undefined;
}

/** After the last seal only the store's own checks apply: checksums and, on SQLite, gaps. */
async function lookThroughTail(store: Store, project: string, after: number) {
  let rows = 0;
  let oldest_at_ms: number | undefined;
  let fault: Fault | undefined;
  try {
    for (let position = after; ; ) {
      const { entries } = await store.read(project, position, TAIL_ROWS_AT_ONCE);
      if (entries.length === 0) break;
      oldest_at_ms ??= entries[0]?.at_ms;
      rows += entries.length;
      position = entries.at(-1)?.position ?? position;
      await new Promise(setImmediate);
    }
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.refusal.error !== 'store_damaged') throw error;
    const { position, kind } = error.refusal;
    if (typeof position !== 'number') throw error;
    fault = { kind: kind === 'missing' ? 'missing' : 'changed', position, message: error.message };
  }
  return { fault, tail: { after, rows, oldest_at_ms } };
}
