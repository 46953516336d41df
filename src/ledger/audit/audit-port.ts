import type { LogEntry, Unplaced } from '../log.ts';
import type { Seal } from './seal.ts';
import type { AuditFilter } from './search-words.ts';

/** A part of the log to search, from its end: `above < position < below`. */
export interface Stretch {
  readonly above: number;
  readonly below: number;
  /** Look at no more than this many rows … */
  readonly rows_max: number;
  /** … and return no more than this many. */
  readonly limit: number;
}

export interface Scanned {
  /** Newest first. */
  readonly entries: LogEntry[];
  /** Everything above this position has been looked at. */
  readonly reached: number;
}

/** A row as it is stored, whatever has happened to it. */
export interface StoredRow {
  readonly position: number;
  /** Undefined: it can't even be parsed. */
  readonly entry: LogEntry | undefined;
  /** False: the store's own checksum of the row is wrong. */
  readonly intact: boolean;
}

/** What retention takes out of one sealed segment, in one commit. */
export interface Removal {
  readonly number: number;
  readonly mark: 'pruned_by' | 'archived_by';
  readonly positions: readonly number[];
  /** The record of the removal, which becomes a row of the log in the same commit. */
  readonly row: Unplaced;
}

/**
 * The log as an audit trail: searched, sealed behind its end and, eventually, shortened. Nothing here is part
 * of a commit. What every store does in the same way is in `ledger/audit/`.
 */
export interface Trail {
  /** Seals after `number`, in order; or before it, the newest first. */
  sealsAfter(project: string, number: number, limit: number): Promise<Seal[]>;
  sealsBefore(project: string, number: number, limit: number): Promise<Seal[]>;
  leaves(project: string, number: number): Promise<Buffer | undefined>;
  /** False: there is already a seal of that number. The process that comes second looks again. */
  addSeal(seal: Seal, leaves: Buffer): Promise<boolean>;
  scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned>;
  /**
   * Rows with `after < position <= last`, in order and unchecked: for finding out what is wrong with them.
   */
  stored(project: string, after: number, last: number): Promise<StoredRow[]>;
  /** What the engine finds wrong with its own file, also where no row of the log is; undefined: nothing. */
  damage?(): Promise<string | undefined>;
  /** False: the segment already has that mark, and nothing was done. */
  remove(project: string, removal: Removal): Promise<boolean>;
}
