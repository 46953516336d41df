import type { JsonObject } from '../../kernel/json.ts';
import type { Trail } from './audit-port.ts';
import { ARCHIVE, digestOfLeaves, PRUNE, type RowKind, type Seal, unpackLeaves } from './seal.ts';

/**
 * What a row of the log says about the removal of other rows: which rows of a segment, and the hash of what
 * they were.
 */
export interface Tombstone {
  readonly removed: ReadonlySet<number>;
}

/** The record's fields. One bit per row, so that even a thousand removed rows fit into a line. */
export function describeRemoval(packed: Buffer, removed: ReadonlySet<number>): JsonObject {
  const leaves = unpackLeaves(packed);
  const bits = Buffer.alloc(Math.ceil(leaves.length / 8));
  for (const [index, { position }] of leaves.entries())
    if (removed.has(position)) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return { removed: removed.size, which: bits.toString('base64'), digest: digestOfLeaves(packed, removed) };
}

/**
 * Undefined: it does not match its own hash or count, or removes rows that its kind of removal may not
 * remove.
 */
function readRemoval(
  packed: Buffer,
  kind: RowKind,
  { removed, which, digest }: JsonObject,
): ReadonlySet<number> | undefined {
  if (typeof which !== 'string') return undefined;
  const bits = Buffer.from(which, 'base64');
  const taken = unpackLeaves(packed).filter((_, index) => ((bits[index >> 3] ?? 0) >> (index & 7)) & 1);
  const positions = new Set(taken.map(({ position }) => position));
  // A removal of reads must not contain rows with events.
  if (taken.length !== removed || taken.some((leaf) => leaf.kind !== kind)) return undefined;
  return digestOfLeaves(packed, positions) === digest ? positions : undefined;
}

/** The records that a seal refers to, or what is wrong with one of them. */
export async function readTombstones(trail: Trail, project: string, seal: Seal, packed: Buffer) {
  const tombstones: Tombstone[] = [];
  const marks = [
    { position: seal.pruned_by, operation: PRUNE, kind: 'quiet' },
    { position: seal.archived_by, operation: ARCHIVE, kind: 'event' },
  ] as const;
  for (const { position, operation, kind } of marks) {
    if (position === null) continue;
    const [row] = await trail.stored(project, position - 1, position);
    const entry = row?.intact === true ? row.entry : undefined;
    const about = entry?.operation === operation && entry.parameters.segment === seal.number;
    const removed = about ? readRemoval(packed, kind, entry.result) : undefined;
    if (removed === undefined) {
      const message = `Row ${position} should record what was removed from segment ${seal.number}, but does not.`;
      return { kind: 'removal_unproven' as const, position, message };
    }
    tombstones.push({ removed });
  }
  return tombstones;
}

/** The files to which a part of the log was moved. */
export async function archivesOf(trail: Trail, project: string) {
  const archives = new Map<string, { archive: string; sha256: string }>();
  for (let number = 0; ; ) {
    const seals = await trail.sealsAfter(project, number, 1000);
    for (const { archived_by } of seals) {
      if (archived_by === null) continue;
      const [row] = await trail.stored(project, archived_by - 1, archived_by);
      const { archive, sha256 } = row?.entry?.result ?? {};
      if (typeof archive === 'string' && typeof sha256 === 'string')
        archives.set(sha256, { archive, sha256 });
    }
    const last = seals.at(-1);
    if (last === undefined) return [...archives.values()];
    number = last.number;
  }
}
