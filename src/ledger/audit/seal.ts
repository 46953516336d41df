import { SHA256_BYTES, sha256 } from '../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../kernel/json.ts';
import type { LogEntry } from '../log.ts';
import { wordsOf } from './search-words.ts';

/** What a seal says about its rows: all of it goes into the hash. */
export interface SealedFacts {
  readonly project: string;
  /** 1, 2, 3 … within a project. */
  readonly number: number;
  /** The hash of the previous seal; empty for the first. */
  readonly previous: string;
  /** The rows of the project with `after < position <= last`. */
  readonly after: number;
  readonly last: number;
  readonly rows: number;
  /** How many of them are reads and refusals, and how many have events. The rest are records of removals. */
  readonly quiet_rows: number;
  readonly event_rows: number;
  readonly oldest_at_ms: number;
  readonly newest_at_ms: number;
  readonly sealed_at_ms: number;
  /** What a search can look for in these rows (search-words.ts); null: too many to list. */
  readonly words: string | null;
}

export interface Seal extends SealedFacts {
  readonly hash: string;
  /** Positions of the rows that record what retention removed from this segment. */
  readonly pruned_by: number | null;
  readonly archived_by: number | null;
}

/**
 * The operations whose rows record a removal. These rows stay for ever: without them a gap would be
 * unexplained.
 */
export const PRUNE = 'prune_audit';
export const ARCHIVE = 'archive_audit';

/**
 * How retention treats a row: reads and refusals may be pruned, rows with events may be archived, records
 * stay.
 */
export type RowKind = 'quiet' | 'event' | 'record';
const KINDS: readonly RowKind[] = ['quiet', 'event', 'record'];

export function kindOf({ events, operation }: LogEntry): RowKind {
  if (events.length > 0) return 'event';
  return operation === PRUNE || operation === ARCHIVE ? 'record' : 'quiet';
}

/** One sealed row: its position, its kind and the hash of its contents. */
export interface Leaf {
  readonly position: number;
  readonly kind: RowKind;
  readonly digest: string;
}

const KIND_AT = 8;
const DIGEST_AT = KIND_AT + 1;
const LEAF_BYTES = DIGEST_AT + SHA256_BYTES;

/** The contents of a row are the same on every store, so a copied log is verified by the same seals. */
export function digestOf({ position: _, born: _born, anew: _anew, ...content }: LogEntry): string {
  return sha256(canonical(content));
}

/**
 * 41 bytes a row. The leaves are kept apart from the rows, so the chain still holds when a row was lawfully
 * removed.
 */
export function packLeaves(entries: readonly LogEntry[]): Buffer {
  const packed = Buffer.alloc(entries.length * LEAF_BYTES);
  for (const [index, entry] of entries.entries()) {
    const start = index * LEAF_BYTES;
    packed.writeBigUInt64BE(BigInt(entry.position), start);
    packed.writeUInt8(KINDS.indexOf(kindOf(entry)), start + KIND_AT);
    packed.write(digestOf(entry), start + DIGEST_AT, 'hex');
  }
  return packed;
}

export function unpackLeaves(packed: Buffer): Leaf[] {
  const leaves: Leaf[] = [];
  for (let start = 0; start + LEAF_BYTES <= packed.length; start += LEAF_BYTES) {
    leaves.push({
      position: Number(packed.readBigUInt64BE(start)),
      kind: KINDS[packed.readUInt8(start + KIND_AT)] ?? 'record',
      digest: packed.toString('hex', start + DIGEST_AT, start + LEAF_BYTES),
    });
  }
  return leaves;
}

/** The hash of some of a segment's leaves: this remains of the rows that a removal took. */
export function digestOfLeaves(packed: Buffer, positions: ReadonlySet<number>): string {
  const parts: Buffer[] = [];
  for (const [index, { position }] of unpackLeaves(packed).entries())
    if (positions.has(position)) parts.push(packed.subarray(index * LEAF_BYTES, (index + 1) * LEAF_BYTES));
  return sha256(Buffer.concat(parts));
}

export function sealHash(facts: SealedFacts, packed: Buffer): string {
  const { project, number, previous, after, last, rows, quiet_rows, event_rows } = facts;
  const { oldest_at_ms, newest_at_ms, sealed_at_ms, words } = facts;
  // Named one by one: a field that a store adds to a seal must not change its hash.
  const hashed: JsonObject = { project, number, previous, after, last, rows, quiet_rows, event_rows };
  Object.assign(hashed, { oldest_at_ms, newest_at_ms, sealed_at_ms, words });
  return sha256(`coxswain-seal-1\n${canonical(hashed)}\n${sha256(packed)}`);
}

export function makeSeal(
  project: string,
  before: Seal | undefined,
  entries: readonly LogEntry[],
  packed: Buffer,
  sealed_at_ms: number,
): Seal {
  const times = entries.map(({ at_ms }) => at_ms);
  const facts: SealedFacts = {
    project,
    number: (before?.number ?? 0) + 1,
    previous: before?.hash ?? '',
    after: before?.last ?? 0,
    last: entries.at(-1)?.position ?? 0,
    rows: entries.length,
    quiet_rows: entries.filter((entry) => kindOf(entry) === 'quiet').length,
    event_rows: entries.filter((entry) => kindOf(entry) === 'event').length,
    oldest_at_ms: Math.min(...times),
    newest_at_ms: Math.max(...times),
    sealed_at_ms,
    words: wordsOf(entries),
  };
  return { ...facts, hash: sealHash(facts, packed), pruned_by: null, archived_by: null };
}
