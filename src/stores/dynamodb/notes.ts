import type { Ids } from '../../kernel/ids.ts';
import type { Unplaced } from '../../ledger/log.ts';
import type { Item } from './item.ts';
import { outboxPlace } from './layout.ts';
import { rowItem } from './rows.ts';
import type { Stamps } from './stamps.ts';
import type { TableClient } from './table-client.ts';

const BUFFER_MAX = 10_000;
/** Longer than on a server of one's own: each request is paid for, and takes 25 rows. */
const FLUSH_AFTER_MS = 250;
const ROWS_PER_FLUSH = 25;

/**
 * Audit rows of reads and refusals: collected for a moment and left in the outbox together. In a transaction, for its token: a
 * reader may have moved them on when a lost answer makes us ask again, and a put would leave them there a second time. What
 * could not be written is counted.
 */
export class Notes {
  dropped = 0;
  readonly #table: TableClient;
  readonly #stamps: Stamps;
  readonly #ids: Ids;
  readonly #written: (project: string) => void;
  #rows: Unplaced[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(table: TableClient, stamps: Stamps, ids: Ids, written: (project: string) => void) {
    this.#table = table;
    this.#stamps = stamps;
    this.#ids = ids;
    this.#written = written;
  }

  add(row: Unplaced): void {
    if (this.#rows.length >= BUFFER_MAX) {
      this.dropped += 1;
      return;
    }
    this.#rows.push(row);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing ??= this.#flushAll().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flushAll(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.splice(0, ROWS_PER_FLUSH);
      const items = rows.map((row) => this.#item(row)).filter((item) => item !== undefined);
      this.dropped += rows.length - items.length;
      try {
        const puts = items.map((Item) => ({ Put: { TableName: this.#table.address.table, Item } }));
        if (puts.length > 0) await this.#table.transactSurely(puts, () => this.#ids.uuid());
        for (const project of new Set(rows.map(({ project }) => project))) this.#written(project);
      } catch {
        this.dropped += items.length;
      }
    }
  }

  /** Undefined: too large for an item; the others are written all the same. */
  #item(row: Unplaced): Item | undefined {
    try {
      return rowItem(outboxPlace(row.project, this.#stamps.next(), this.#ids.uuid()), row);
    } catch {
      return undefined;
    }
  }
}
