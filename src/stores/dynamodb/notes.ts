import type { Ids } from '../../kernel/ids.ts';
import type { Unplaced } from '../../ledger/log.ts';
import { NoteBuffer } from '../note-buffer.ts';
import type { Item } from './item.ts';
import { outboxPlace } from './item-layout.ts';
import { rowItem } from './rows.ts';
import type { Stamps } from './stamps.ts';
import type { TableClient } from './table-client.ts';

/**
 * Written to the outbox in a transaction, because of its token: when an answer is lost and we ask again, a
 * reader may have moved the rows on already, and a plain put would add them a second time.
 */
export function createNotes(
  table: TableClient,
  stamps: Stamps,
  ids: Ids,
  written: (project: string) => void,
): NoteBuffer {
  /** Undefined: too large for an item. The other rows are still written. */
  const itemOf = (row: Unplaced): Item | undefined => {
    try {
      return rowItem(outboxPlace(row.project, stamps.next(), ids.uuid()), row);
    } catch {
      return undefined;
    }
  };
  return new NoteBuffer({
    // Longer than for a self-hosted server: each request costs money.
    flush_after_ms: 250,
    rows_per_call: 25,
    async write(rows) {
      const items = rows.map(itemOf).filter((item) => item !== undefined);
      const puts = items.map((Item) => ({ Put: { TableName: table.address.table, Item } }));
      if (puts.length > 0) await table.transactSurely(puts, () => ids.uuid());
      for (const project of new Set(rows.map(({ project }) => project))) written(project);
      return items.length;
    },
  });
}
