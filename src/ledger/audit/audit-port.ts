import type { LogEntry, Unplaced } from '../log.ts';
import type { Seal } from './seal.ts';
import type { AuditFilter } from './search-words.ts';

/** A part of the log to look through, from its end: `above < position < below`. */
export interface Stretch {
  readonly above: number;
  readonly below: number;
  /** Look at so many rows at most … */
  readonly rows_max: number;
  /** … and answer so many at most. */
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
  /** Undefined: it can't even be read. */
  readonly entry: LogEntry | undefined;
  /** False: the store's own checksum of the row is wrong. */
  readonly intact: boolean;
}

/** What retention takes out of one sealed segment, in one commit. */
export interface Removal {
  readonly number: number;
  readonly mark: 'pruned_by' | 'archived_by';
  readonly positions: readonly number[];
  /** The record of it, which becomes a row of the log in the same commit. */
  readonly row: Unplaced;
}

/**
 * The log seen as an audit trail: searched, sealed behind its end, and in the end shortened. Nothing here is part of a
 * commit; `ledger/trail/` does with it what is the same on every store.
 */
export interface Trail {
  /** In the order of their numbers, those after `number`; or before it, the newest first. */
  sealsAfter(project: string, number: number, limit: number): Promise<Seal[]>;
  sealsBefore(project: string, number: number, limit: number): Promise<Seal[]>;
  leaves(project: string, number: number): Promise<Buffer | undefined>;
  /** False: there is one of that number already. Whoever comes second looks again. */
  addSeal(seal: Seal, leaves: Buffer): Promise<boolean>;
  scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned>;
  /** Rows with `after < position <= last`, in order, unchecked: for whoever wants to know what is wrong with them. */
  stored(project: string, after: number, last: number): Promise<StoredRow[]>;
  /** False: the segment bears that mark already, and nothing was done. */
  remove(project: string, removal: Removal): Promise<boolean>;
}
