import { sha256 } from '../../kernel/hash.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityKey } from '../../ledger/entity.ts';
import type { Request } from '../../ledger/log.ts';

/** The key of an item. Projects share nothing; a project's log has a partition of its own. */
export interface ItemPlace {
  readonly PK: string;
  readonly SK: string;
}

/** DynamoDB's own limit for a sort key. */
const SORT_KEY_BYTES_MAX = 1024;
/**
 * Sorts below every character that a key can hold, so that a shorter key comes before all keys that begin
 * with it.
 */
const SEPARATOR = '\u0000';
const NUMBER_DIGITS = 16;

const BY = { sort: 's', group: 'g', link: 'l' } as const;
export type IndexName = keyof typeof BY;

function padded(value: number): string {
  return String(value).padStart(NUMBER_DIGITS, '0');
}

/** `CLAIM#REQ-F-AUTH#design_code`, `LOCK#src/app.ts`, `TASK#…`. */
export function recordPlace(project: string, { kind, id }: EntityKey): ItemPlace {
  return { PK: project, SK: `${kind.toUpperCase()}#${id}` };
}

/** `FREE#claim#REQ-F-AUTH#design_code`: a record whose own place is empty while nothing is granted. */
export function freePlace(project: string, { kind, id }: EntityKey): ItemPlace {
  return { PK: project, SK: `FREE#${kind}#${id}` };
}

export function freeIdOf(kind: string, sortKey: string): string {
  return sortKey.slice('FREE##'.length + kind.length);
}

export function freeEnds({ kind, from, before }: Range): { first: string; last: string } {
  return { first: `FREE#${kind}#${from}`, last: `FREE#${kind}#${before}` };
}

export function idOf(kind: string, sortKey: string): string {
  return sortKey.slice(kind.length + 1);
}

/**
 * For a record that nearly every commit expects. Two transactions that only check the same item would still
 * conflict, so each caller checks one of several copies of its version.
 */
export const WITNESSES = 16;

export function witnessPlace(project: string, { kind, id }: EntityKey, witness: number): ItemPlace {
  return { PK: project, SK: `WITNESS#${kind}/${id}#${String(witness).padStart(2, '0')}` };
}

export function witnessOf(caller: string): number {
  return Number.parseInt(sha256(caller).slice(0, 8), 16) % WITNESSES;
}

export interface IndexEntry extends EntityKey {
  readonly by: IndexName;
  readonly key: string;
  readonly born: number;
}

/** `INDEX#task#s#ready/…`: in the order of (key, born, id) within one kind. */
export function indexPlace(project: string, { by, kind, key, born, id }: IndexEntry): ItemPlace {
  const start = `INDEX#${kind}#${BY[by]}#${key}${SEPARATOR}${padded(born)}${SEPARATOR}`;
  const fits = Buffer.byteLength(start) + Buffer.byteLength(id) <= SORT_KEY_BYTES_MAX;
  return { PK: project, SK: start + (fits ? id : sha256(id).slice(0, 16)) };
}

/** `BETWEEN` includes both ends. Only a record of exactly that id could be at the upper one. */
export function rangeEnds({ by, kind, from, before }: Range): { first: string; last: string } {
  if (by === 'id') return { first: `${kind.toUpperCase()}#${from}`, last: `${kind.toUpperCase()}#${before}` };
  const prefix = `INDEX#${kind}#${BY[by]}#`;
  return { first: prefix + pastEntries(from), last: prefix + pastEntries(before) };
}

/**
 * "Just after this key" must sort behind all entries of the key; after the key they continue with this same
 * character.
 */
function pastEntries(end: string): string {
  return end.endsWith(SEPARATOR) ? `${end}\u{10FFFF}` : end;
}

export function operationPlace({ project, actor, operation_id }: Request): ItemPlace {
  // No name contains the separator, so a#b's c can't be confused with a's b#c.
  const SK = `OP#${actor.agent_id}${SEPARATOR}${operation_id}`;
  return {
    PK: project,
    SK: Buffer.byteLength(SK) <= SORT_KEY_BYTES_MAX ? SK : `OP##${sha256(SK)}`,
  };
}

export function logPartition(project: string): string {
  return `${project}#log`;
}

const OUTBOX = 'OUT#';
const LOG = 'LOG#';

/** A committed row that has no position yet. */
export function outboxPlace(project: string, stamp: number, commit_id: string): ItemPlace {
  return { PK: logPartition(project), SK: `${OUTBOX}${padded(stamp)}#${commit_id}` };
}

export const OUTBOX_ENDS = { first: OUTBOX, last: `${OUTBOX}\u{10FFFF}` } as const;

export function rowPlace(project: string, position: number): ItemPlace {
  return { PK: logPartition(project), SK: `${LOG}${padded(position)}` };
}

export function positionOf(sortKey: string): number {
  return Number(sortKey.slice(LOG.length));
}

/** `after < position <= last`. */
export function rowEnds(after: number, last: number): { first: string; last: string } {
  const end = Math.min(last, 10 ** NUMBER_DIGITS - 1);
  return { first: `${LOG}${padded(Math.min(after + 1, end))}`, last: `${LOG}${padded(end)}` };
}

/** How far the log has been put in order. */
export function headPlace(project: string): ItemPlace {
  return { PK: logPartition(project), SK: 'HEAD' };
}

export function sealPlace(project: string, number: number): ItemPlace {
  return { PK: logPartition(project), SK: `SEAL#${padded(number)}` };
}

export function sealEnds(first: number, last: number): { first: string; last: string } {
  return { first: `SEAL#${padded(first)}`, last: `SEAL#${padded(Math.min(last, 10 ** NUMBER_DIGITS - 1))}` };
}

export function leavesPlace(project: string, number: number): ItemPlace {
  return { PK: logPartition(project), SK: `LEAVES#${padded(number)}` };
}

/** About the table as a whole. */
export const META_PLACE: ItemPlace = { PK: 'coxswain', SK: 'META' };
