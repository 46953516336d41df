import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Unplaced } from '../../src/ledger/log.ts';
import { type Item, keyOf, text, textOf } from '../../src/stores/dynamodb/item.ts';
import { type ItemPlace, logPartition, outboxPlace } from '../../src/stores/dynamodb/item-layout.ts';
import { rowItem } from '../../src/stores/dynamodb/rows.ts';
import type { QueryOptions, TableClient, Transacted } from '../../src/stores/dynamodb/table-client.ts';

export type Step = 'page' | 'get' | 'transact' | 'transacted';

/**
 * DynamoDB as far as the log and the trail use it: single steps are atomic, a query is only as atomic as each of its pages.
 * `at` runs before each step (and after a transaction), so that a test can let others go first there, or end the caller.
 */
export class StandInTable {
  readonly address = { table: 'stand-in', region: undefined, endpoint: undefined };
  readonly items = new Map<string, Item>();
  readonly transactions: TransactWriteItem[][] = [];
  page_rows = Number.POSITIVE_INFINITY;
  at: (step: Step) => Promise<void> | void = () => {};

  /** In the place of the real one. */
  get client(): TableClient {
    return this as unknown as TableClient;
  }

  /** The same items for another process, with an `at` of its own. */
  beside(at: (step: Step) => Promise<void> | void = () => {}): StandInTable {
    const { items, page_rows } = this;
    return Object.assign(new StandInTable(), { items, page_rows, at });
  }

  put(item: Item): void {
    this.items.set(nameOf(item), item);
  }

  /** What a commit leaves behind. */
  commit(project: string, stamp: number, more: Partial<Unplaced> = {}): void {
    this.put(rowItem(outboxPlace(project, stamp, `id-${stamp}`), row(project, { born: stamp, ...more })));
  }

  waiting(project: string): number {
    return [...this.items.values()].filter(
      (item) => item.PK?.S === logPartition(project) && item.SK?.S?.startsWith('OUT#'),
    ).length;
  }

  async get(place: ItemPlace): Promise<Item | undefined> {
    await this.at('get');
    return this.items.get(nameOf(keyOf(place)));
  }

  async query(PK: string, ends: { first: string; last: string }, options: QueryOptions): Promise<Item[]> {
    const found: Item[] = [];
    for (let reached: string | undefined; found.length < options.limit; ) {
      await this.at('page');
      const inside = [...this.items.values()]
        .filter((item) => item.PK?.S === PK && between(item, ends))
        .sort((a, b) => compare(sortKey(a), sortKey(b)));
      if (options.backwards === true) inside.reverse();
      const from = reached;
      const direction = options.backwards === true ? -1 : 1;
      const left =
        from === undefined ? inside : inside.filter((item) => compare(sortKey(item), from) * direction > 0);
      const page = left.slice(0, Math.min(this.page_rows, options.limit - found.length));
      found.push(...page);
      if (page.length === left.length) break;
      reached = sortKey(page.at(-1) as Item);
    }
    return found;
  }

  async transact(actions: TransactWriteItem[], _token: string): Promise<Transacted> {
    await this.at('transact');
    const reasons = actions.map((action) => this.#judge(action));
    const done = reasons.every(({ Code }) => Code === 'None');
    if (done) {
      this.transactions.push(actions);
      for (const { Put, Delete } of actions) {
        if (Put?.Item !== undefined) this.put(Put.Item);
        if (Delete?.Key !== undefined) this.items.delete(nameOf(Delete.Key));
      }
    }
    await this.at('transacted');
    return done ? { done } : { done, reasons };
  }

  /** The real one tries more often, and pauses. */
  async transactSurely(actions: TransactWriteItem[], newToken: () => string): Promise<boolean> {
    const result = await this.transact(actions, newToken());
    if (result.done) return true;
    if (result.reasons.some(({ Code }) => Code === 'ConditionalCheckFailed')) return false;
    throw new Error('busy');
  }

  #judge({ Put, Delete, ConditionCheck }: TransactWriteItem): CancellationReason {
    const asked = Put ?? Delete ?? ConditionCheck;
    const stands = this.items.get(nameOf(Put?.Item ?? Delete?.Key ?? ConditionCheck?.Key ?? {}));
    const holds = (asked?.ConditionExpression ?? '')
      .split(' AND ')
      .every((part) => isTrue(part, stands, asked?.ExpressionAttributeValues ?? {}));
    return { Code: holds ? 'None' : 'ConditionalCheckFailed' };
  }
}

function isTrue(condition: string, item: Item | undefined, values: Item): boolean {
  if (condition === '') return true;
  if (condition === 'attribute_not_exists(PK)') return item === undefined;
  if (condition === 'attribute_exists(PK)') return item !== undefined;
  const [, name = '', value = ''] = /^(\w+) = (:\w+)$/.exec(condition) ?? [];
  if (name === '') throw new Error(`the stand-in does not know ${condition}`);
  return JSON.stringify(item?.[name]) === JSON.stringify(values[value]);
}

function nameOf({ PK, SK }: Item): string {
  return `${PK?.S}\n${SK?.S}`;
}

function sortKey(item: Item): string {
  return textOf(item, 'SK') ?? '';
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function between(item: Item, { first, last }: { first: string; last: string }): boolean {
  return compare(sortKey(item), first) >= 0 && compare(sortKey(item), last) <= 0;
}

export function row(project: string, more: Partial<Unplaced> = {}): Unplaced {
  return {
    ...{ schema: 5, project, at_ms: 1_790_000_000_000, agent_id: 'ann', agent_type: 'test', session_id: 's' },
    ...{ sequence: 1, operation: 'set_cell', operation_id: 'o', parameters: {}, result: {}, duration_ms: 1 },
    events: [],
    ...more,
  };
}

/** A row whose text was changed behind the store's back. */
export function damaged(item: Item): Item {
  return { ...item, row: text((textOf(item, 'row') ?? '').replace('ann', 'bob')) };
}
