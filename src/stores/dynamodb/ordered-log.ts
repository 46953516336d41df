import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Ids } from '../../kernel/ids.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { LogEntry, Unplaced } from '../../ledger/log.ts';
import { type Item, keyOf, number, numberOf, textOf } from './item.ts';
import { headPlace, logPartition, OUTBOX_ENDS, rowEnds, rowPlace } from './item-layout.ts';
import { entryOf, placed, rowItem } from './rows.ts';
import type { TableClient } from './table-client.ts';

/** For each row a transaction has one put and one delete; and it moves the head. */
const ROWS_PER_MOVE = 49;
/** A transaction takes 4 MB, and each row counts twice. */
const MOVE_BYTES_MAX = 1_800_000;
const MOVES_MAX = 200;

/**
 * The log of each project. A commit leaves its row in an outbox, under a stamp later than those of all rows
 * it relied on; so two commits never contend here. A reader first puts the outbox in order: the head and the
 * rows move in one transaction, so that positions have no gaps and rows that were read never change.
 */
export class Log {
  readonly #table: TableClient;
  readonly #ids: Ids;
  /**
   * One at a time. A caller that comes while one is under way needs the next one: its own row may have been
   * committed after the look.
   */
  readonly #ordering = new Map<string, { running: Promise<number>; next: Promise<number> | undefined }>();
  readonly #heads = new Map<string, number>();

  constructor(table: TableClient, ids: Ids) {
    this.#table = table;
    this.#ids = ids;
  }

  async read(project: string, after: number, limit: number): Promise<{ entries: LogEntry[]; safe: number }> {
    const safe = await this.order(project);
    const items = await this.items(project, after, safe, { limit });
    return { entries: items.map(entryOf), safe };
  }

  async items(
    project: string,
    after: number,
    last: number,
    options: { limit: number; backwards?: boolean },
  ): Promise<Item[]> {
    if (after >= last || options.limit <= 0) return [];
    return await this.#table.query(logPartition(project), rowEnds(after, last), options);
  }

  /** Puts in order what was committed before this call; returns how far the log goes. */
  order(project: string): Promise<number> {
    const current = this.#ordering.get(project);
    if (current === undefined) return this.#start(project);
    current.next ??= current.running.then(
      () => this.#start(project),
      () => this.#start(project),
    );
    return current.next;
  }

  #start(project: string): Promise<number> {
    const running = this.#orderNow(project).finally(() => {
      const current = this.#ordering.get(project);
      if (current?.running === running && current.next === undefined) this.#ordering.delete(project);
    });
    this.#ordering.set(project, { running, next: undefined });
    return running;
  }

  async #orderNow(project: string): Promise<number> {
    for (let moves = 0; moves < MOVES_MAX; moves += 1) {
      const { rows, complete } = await this.#settled(project);
      if (rows.length === 0) return await this.head(project);
      const head = await this.#move(project, rows);
      // Rows committed since the look are left to the next call: otherwise a reader of a busy log would never
      // finish.
      if (head !== undefined && complete) return head;
    }
    throw new StoreFailure('database_unavailable', 'Rows come in faster than the log can be put in order.');
  }

  /**
   * The first rows of the outbox, without gaps. One query is no snapshot: it may miss a row and still see one
   * that was committed after it. So the same stretch is queried until two results agree: the second query
   * sees every row that was committed before the first one ended.
   */
  async #settled(project: string): Promise<{ rows: Item[]; complete: boolean }> {
    let rows = await this.#look(project, OUTBOX_ENDS.last, ROWS_PER_MOVE);
    let complete = true;
    for (;;) {
      complete &&= rows.length < ROWS_PER_MOVE;
      const last = textOf(rows.at(-1), 'SK');
      if (last === undefined) return { rows, complete };
      const again = await this.#look(project, last, ROWS_PER_MOVE);
      if (again.length === rows.length && again.every((item, at) => item.SK?.S === rows[at]?.SK?.S))
        return { rows, complete };
      rows = again;
    }
  }

  async #look(project: string, last: string, limit: number): Promise<Item[]> {
    return await this.#table.query(logPartition(project), { ...OUTBOX_ENDS, last }, { limit });
  }

  /** Returns how far the log goes afterwards; undefined: not all rows were moved. */
  async #move(project: string, waiting: readonly Item[]): Promise<number | undefined> {
    const TableName = this.#table.address.table;
    const head = this.#heads.get(project) ?? (await this.head(project));
    const actions: TransactWriteItem[] = [];
    let moved = 0;
    for (let bytes = 0; moved < waiting.length; moved += 1) {
      const item = waiting[moved] as Item;
      bytes += Buffer.byteLength(textOf(item, 'row') ?? '') * 2;
      if (moved > 0 && bytes > MOVE_BYTES_MAX) break;
      const { PK, SK } = item as { PK: Item[string]; SK: Item[string] };
      actions.push({ Put: { TableName, Item: placed(item, rowPlace(project, head + moved + 1)) } });
      // The head may have been read after the look. A row that another process has moved in between must not
      // be moved again.
      const waits = { ConditionExpression: 'attribute_exists(PK)' };
      actions.push({ Delete: { TableName, Key: { PK, SK }, ...waits } });
    }
    actions.push(this.#headMove(project, head, head + moved));
    const result = await this.#table.transact(actions, this.#ids.uuid());
    if (result.done) this.#heads.set(project, head + moved);
    // Another process was quicker: look again at what is left.
    else this.#heads.delete(project);
    return result.done && moved === waiting.length ? head + moved : undefined;
  }

  #headMove(project: string, from: number, to: number): TransactWriteItem {
    const condition =
      from === 0
        ? { ConditionExpression: 'attribute_not_exists(PK)' }
        : {
            ConditionExpression: 'version = :from',
            ExpressionAttributeValues: { ':from': number(from) },
          };
    return {
      Put: {
        TableName: this.#table.address.table,
        Item: { ...keyOf(headPlace(project)), version: number(to) },
        ...condition,
      },
    };
  }

  async head(project: string): Promise<number> {
    const head = numberOf(await this.#table.get(headPlace(project)), 'version') ?? 0;
    this.#heads.set(project, head);
    return head;
  }

  /** True: something is committed that the log does not show yet. */
  async hasWaiting(project: string): Promise<boolean> {
    return (await this.#look(project, OUTBOX_ENDS.last, 1)).length > 0;
  }

  /**
   * Adds a row at the very end of the log, in one transaction with the writes that depend on its position.
   */
  async appendWith(
    project: string,
    row: Unplaced,
    more: (position: number) => TransactWriteItem[],
  ): Promise<boolean> {
    for (let tries = 0; tries < MOVES_MAX; tries += 1) {
      const head = await this.order(project);
      const position = head + 1;
      const others = more(position);
      const result = await this.#table.transact(
        [
          this.#headMove(project, head, position),
          { Put: { TableName: this.#table.address.table, Item: rowItem(rowPlace(project, position), row) } },
          ...others,
        ],
        this.#ids.uuid(),
      );
      if (result.done) {
        this.#heads.set(project, position);
        return true;
      }
      if (result.reasons.slice(2).some(({ Code }) => Code === 'ConditionalCheckFailed')) return false;
    }
    throw new StoreFailure(
      'database_unavailable',
      'The end of the log moves faster than a row can be put there.',
    );
  }
}
