import type { EventBody } from '../../ledger/entity.ts';
import type { Unplaced } from '../../ledger/log.ts';

/** Bytes of a journal: where they begin, and how many. */
export type Place = readonly [offset: number, bytes: number];

/**
 * A log outside the file that comes before it (stores/files): events are written there first and are on disk before anybody
 * is answered; the file is then what can be made anew from it.
 */
export interface Journal {
  /** Inside every transaction, before anything is decided: takes in what stands there and not yet here. True: it did. */
  catchUp(): boolean;
  /** Answers where its events will stand once `flush` has been called. */
  append(position: number, row: Unplaced, input_digest: string | null): Place;
  /** Just before the file's commit. */
  flush(): void;
  /** The transaction was taken back. */
  abandon(): void;
  /** After the file's commit: what was flushed is on disk. */
  sync(): void;
  eventsAt(place: Place): readonly EventBody[];
  close(): void;
}
