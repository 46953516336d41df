import { sha256 } from '../../kernel/hash.ts';
import { canonical } from '../../kernel/json.ts';
import { digestOf, kindOf } from '../audit/seal.ts';
import type { LogEntry, Unplaced } from '../log.ts';

const HEX_DIGITS = 32;

/** 128 bits in a string of 16 characters: a million of them have to fit into memory. */
export function shortened(sha256_hex: string): string {
  return Buffer.from(sha256_hex.slice(0, HEX_DIGITS), 'hex').toString('latin1');
}

export function hexOf(identity: string): string {
  return Buffer.from(identity, 'latin1').toString('hex');
}

/** The row as another log takes it in: its position there is up to that log. */
export function unplaced({ position: _, born: __, ...row }: LogEntry): Unplaced {
  return row;
}

/**
 * Rows about the store that contains them, not about the project: how it read its log in, what retention
 * removed.
 */
export function isOfTheStore(entry: LogEntry): boolean {
  const { agent_type, operation } = entry;
  return kindOf(entry) === 'record' || (agent_type === 'system' && OF_FILES.has(operation));
}
const OF_FILES = new Set(['log_read', 'log_replaced']);

/**
 * What makes a row the same row in another store. For a row with events: who did it, when, and the events.
 * The log of a files store keeps no more than that when only the log is left. For a read or a refusal: all of
 * it, as in a seal.
 */
function digestOfRow(entry: LogEntry): string {
  if (entry.events.length === 0) return shortened(digestOf(unplaced(entry) as LogEntry));
  const { project, at_ms, agent_id, agent_type, session_id, sequence, operation, operation_id, events } =
    entry;
  const who = { agent_id, agent_type, session_id, sequence };
  return shortened(sha256(canonical({ project, at_ms, ...who, operation, operation_id, events })));
}

/**
 * The identities of a log's rows, which are passed in once each and in order. Equal rows are told apart by
 * counting.
 */
export class Identities {
  readonly #known = new Set<string>();
  readonly #counts = new Map<string, number>();

  has(identity: string): boolean {
    return this.#known.has(identity);
  }

  next(entry: LogEntry): string {
    return this.add(digestOfRow(entry));
  }

  add(digest: string): string {
    let identity = digest;
    if (this.#known.has(digest)) {
      const count = (this.#counts.get(digest) ?? 1) + 1;
      this.#counts.set(digest, count);
      identity = shortened(sha256(`${hexOf(digest)} ${count}`));
    }
    this.#known.add(identity);
    return identity;
  }
}
