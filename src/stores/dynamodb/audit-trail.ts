import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Ids } from '../../kernel/ids.ts';
import type { Removal, Scanned, StoredRow, Stretch, Trail } from '../../ledger/audit/audit-port.ts';
import type { Seal } from '../../ledger/audit/seal.ts';
import { type AuditFilter, matches } from '../../ledger/audit/search-words.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { type Item, keyOf, text, textOf } from './item.ts';
import { leavesPlace, logPartition, positionOf, rowPlace, sealEnds, sealPlace } from './item-layout.ts';
import type { Log } from './ordered-log.ts';
import { entryOf, isIntact } from './rows.ts';
import type { TableClient } from './table-client.ts';

const DELETES_PER_CALL = 100;
/** The rows that a removal is about; the attribute is deleted once they are. */
const REMOVING = 'removing';

/** Seals and their leaves, beside the log's rows. */
export class DynamoTrail implements Trail {
  readonly #table: TableClient;
  readonly #log: Log;
  readonly #ids: Ids;

  constructor(table: TableClient, log: Log, ids: Ids) {
    this.#table = table;
    this.#log = log;
    this.#ids = ids;
  }

  async sealsAfter(project: string, number: number, limit: number): Promise<Seal[]> {
    return await this.#seals(project, sealEnds(number + 1, Number.MAX_SAFE_INTEGER), { limit });
  }

  async sealsBefore(project: string, number: number, limit: number): Promise<Seal[]> {
    if (number <= 1) return [];
    return await this.#seals(project, sealEnds(1, number - 1), { limit, backwards: true });
  }

  async leaves(project: string, number: number): Promise<Buffer | undefined> {
    const packed = (await this.#table.get(leavesPlace(project, number)))?.leaves?.B;
    return packed === undefined ? undefined : Buffer.from(packed);
  }

  async addSeal(seal: Seal, leaves: Buffer): Promise<boolean> {
    const item = { ...keyOf(sealPlace(seal.project, seal.number)), seal: text(JSON.stringify(seal)) };
    const packed = { ...keyOf(leavesPlace(seal.project, seal.number)), leaves: { B: leaves } };
    const isNew = { ConditionExpression: 'attribute_not_exists(PK)' };
    const TableName = this.#table.address.table;
    const actions = [{ Put: { TableName, Item: item, ...isNew } }, { Put: { TableName, Item: packed } }];
    return await this.#table.transactSurely(actions, () => this.#ids.uuid());
  }

  async scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned> {
    const { above, below, rows_max, limit } = stretch;
    const last = Math.min(below - 1, await this.#log.order(project));
    const entries: LogEntry[] = [];
    const items = await this.#log.items(project, above, last, { limit: rows_max, backwards: true });
    for (const item of items) {
      const entry = entryOf(item);
      if (matches(entry, filter)) entries.push(entry);
      if (entries.length === limit) return { entries, reached: entry.position };
    }
    // Fewer than asked for: there is nothing further down.
    const reached = items.length < rows_max ? above : positionOf(textOf(items.at(-1), 'SK') ?? '');
    return { entries, reached };
  }

  async stored(project: string, after: number, last: number): Promise<StoredRow[]> {
    const items = await this.#log.items(project, after, last, { limit: Number.MAX_SAFE_INTEGER });
    return items.map((item) => {
      const position = positionOf(textOf(item, 'SK') ?? '');
      return { position, entry: readable(item), intact: isIntact(item) };
    });
  }

  /**
   * A removal may have more rows than one transaction takes. So the seal is first marked with the list of
   * rows to remove, in one transaction with the row that records the removal. Any process that finds a seal
   * with such a list goes on removing.
   */
  async remove(project: string, { number, mark, positions, row }: Removal): Promise<boolean> {
    const place = sealPlace(project, number);
    const item = await this.#table.get(place);
    const seal = sealOf(item);
    if (seal === undefined || seal[mark] !== null) return false;
    const before = textOf(item, 'seal') ?? '';
    const marked = (position: number): TransactWriteItem[] => [
      {
        Put: {
          TableName: this.#table.address.table,
          Item: {
            ...keyOf(place),
            seal: text(JSON.stringify({ ...seal, [mark]: position })),
            // Including rows that an earlier removal did not get to.
            [REMOVING]: text(JSON.stringify([...removingOf(item), ...positions])),
          },
          ConditionExpression: 'seal = :before',
          ExpressionAttributeValues: { ':before': text(before) },
        },
      },
    ];
    if (!(await this.#log.appendWith(project, row, marked))) return false;
    await this.#finish(project, await this.#table.get(place));
    return true;
  }

  async #seals(
    project: string,
    ends: { first: string; last: string },
    options: { limit: number; backwards?: boolean },
  ): Promise<Seal[]> {
    const items = await this.#table.query(logPartition(project), ends, options);
    for (const item of items) await this.#finish(project, item);
    return items.flatMap((item) => sealOf(item) ?? []);
  }

  async #finish(project: string, item: Item | undefined): Promise<void> {
    const removing = textOf(item, REMOVING);
    if (item === undefined || removing === undefined) return;
    const TableName = this.#table.address.table;
    const newToken = () => this.#ids.uuid();
    const positions = removingOf(item);
    for (let start = 0; start < positions.length; start += DELETES_PER_CALL) {
      const deletes = positions
        .slice(start, start + DELETES_PER_CALL)
        .map((position) => ({ Delete: { TableName, Key: keyOf(rowPlace(project, position)) } }));
      await this.#table.transactSurely(deletes, newToken);
    }
    const { [REMOVING]: _, ...done } = item;
    const unchanged = {
      ConditionExpression: 'seal = :seal AND removing = :removing',
      ExpressionAttributeValues: { ':seal': item.seal as Item[string], ':removing': text(removing) },
    };
    await this.#table.transactSurely([{ Put: { TableName, Item: done, ...unchanged } }], newToken);
  }
}

function sealOf(item: Item | undefined): Seal | undefined {
  const json = textOf(item, 'seal');
  return json === undefined ? undefined : (JSON.parse(json) as Seal);
}

function removingOf(item: Item | undefined): number[] {
  return JSON.parse(textOf(item, REMOVING) ?? '[]') as number[];
}

function readable(item: Item): LogEntry | undefined {
  try {
    return entryOf(item);
  } catch {
    return undefined;
  }
}
