import type { EventBody } from '../../ledger/entity.ts';
import type { Unplaced } from '../../ledger/log.ts';

/** Bytes of a journal: where they begin, and how many. */
export type JournalPlace = readonly [offset: number, bytes: number];

/**
 * A log outside the file that takes precedence over it (stores/files): events are written there first and are
 * on disk before any caller is answered. The file can be rebuilt from it.
 */
export interface Journal {
  /**
   * Called inside every transaction, before anything is decided: takes in events that the file does not have
   * yet. True: there were some.
   */
  catchUp(): boolean;
  /** Returns where its events will be once `flush` has been called. */
  append(position: number, row: Unplaced, input_digest: string | null): JournalPlace;
  /** Just before the file's commit. */
  flush(): void;
  /** The transaction was rolled back. */
  abandon(): void;
  /** After the file's commit: what was flushed is on disk. */
  sync(): void;
  eventsAt(place: JournalPlace): readonly EventBody[];
  close(): void;
}
