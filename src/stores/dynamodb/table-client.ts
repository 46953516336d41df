import {
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type CancellationReason,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { compareBytes } from '../../kernel/byte-order.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type Fault, failure, faultOf } from './failures.ts';
import { type Item, keyOf, text, textOf } from './item.ts';
import type { ItemPlace } from './item-layout.ts';
import { makeClient, observe } from './sdk.ts';
import type { DynamoAddress } from './table-address.ts';
import { StoreTime } from './time.ts';

/** A store that does not answer is given up after this time: agents are waiting. */
const AWAY_MS_MAX = 2000;
/** A store that answers but throttles gets more time. */
export const THROTTLED_MS_MAX = 5000;
const PAUSE_MS_MAX = 400;
const KEYS_PER_GET = 100;
const ITEMS_PER_WRITE = 25;
/** DynamoDB reads a limit as a number of 32 bits. */
const LIMIT_MAX = 2 ** 31 - 1;
const CONFLICT_TRIES_MAX = 12;

/** For counting what operations cost. */
export interface RequestSeen {
  readonly operation: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

let onRequest: ((seen: RequestSeen) => void) | undefined;

/** For tests and the table of costs: called for every request of this process from now on. */
export function observeRequests(observer: ((seen: RequestSeen) => void) | undefined): void {
  onRequest = observer;
}

export type Transacted =
  | { readonly done: true }
  | { readonly done: false; readonly reasons: readonly CancellationReason[] };

export interface QueryOptions {
  readonly limit: number;
  readonly backwards?: boolean;
  /** Continue behind this sort key, which lies between the ends. */
  readonly after?: string | undefined;
}

/**
 * One DynamoDB table. All reads are strongly consistent. Requests that were throttled, left unprocessed or
 * unanswered are repeated until their time is up; a transaction is repeated under the same token, so that it
 * happens once.
 */
export class TableClient {
  readonly address: DynamoAddress;
  readonly time: StoreTime;
  readonly #client: DynamoDBClient;
  readonly #clock: Clock;
  readonly #random: Random;
  /** The last request was given up. */
  #away = false;

  constructor(address: DynamoAddress, { clock, random }: { clock: Clock; random: Random }) {
    this.address = address;
    this.time = StoreTime.of(clock, `${address.region ?? ''} ${address.endpoint ?? ''}`);
    this.#clock = clock;
    this.#random = random;
    this.#client = makeClient(address);
    observe(this.#client, (seen) => this.time.learn(seen), clock);
  }

  close(): void {
    this.#client.destroy();
  }

  async get(place: ItemPlace): Promise<Item | undefined> {
    const input = { TableName: this.address.table, Key: keyOf(place), ConsistentRead: true };
    const { Item } = await this.#ask('GetItem', input, () => this.#client.send(new GetItemCommand(input)));
    return Item;
  }

  /** Items by their sort keys; missing items are not in the answer. */
  async getAll(places: readonly ItemPlace[]): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    const groups: ItemPlace[][] = [];
    for (let start = 0; start < places.length; start += KEYS_PER_GET)
      groups.push(places.slice(start, start + KEYS_PER_GET));
    await Promise.all(groups.map((group) => this.#getGroup(group, found)));
    return found;
  }

  async #getGroup(places: readonly ItemPlace[], found: Map<string, Item>): Promise<void> {
    const { table } = this.address;
    let keys: Item[] | undefined = places.map(keyOf);
    for (let tries = 0; keys !== undefined && keys.length > 0; tries += 1) {
      if (tries > 0) await this.#pause(tries);
      const input: BatchGetItemCommandInput = {
        RequestItems: { [table]: { Keys: keys, ConsistentRead: true } },
      };
      const answer: BatchGetItemCommandOutput = await this.#ask('BatchGetItem', input, () =>
        this.#client.send(new BatchGetItemCommand(input)),
      );
      for (const item of answer.Responses?.[table] ?? []) found.set(textOf(item, 'SK') ?? '', item);
      keys = answer.UnprocessedKeys?.[table]?.Keys;
    }
  }

  /** Items of a partition with `first <= SK <= last`, in order, page after page up to the limit. */
  async query(PK: string, ends: { first: string; last: string }, options: QueryOptions): Promise<Item[]> {
    const items: Item[] = [];
    // DynamoDB accepts neither query.
    if (options.limit <= 0 || compareBytes(ends.first, ends.last) > 0) return items;
    let ExclusiveStartKey: Item | undefined;
    if (options.after !== undefined) ExclusiveStartKey = keyOf({ PK, SK: options.after });
    do {
      const input = {
        TableName: this.address.table,
        ConsistentRead: true,
        KeyConditionExpression: 'PK = :pk AND SK BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':pk': text(PK), ':first': text(ends.first), ':last': text(ends.last) },
        ScanIndexForward: options.backwards !== true,
        Limit: Math.min(options.limit - items.length, LIMIT_MAX),
        ...(ExclusiveStartKey === undefined ? {} : { ExclusiveStartKey }),
      };
      const answer = await this.#ask('Query', input, () => this.#client.send(new QueryCommand(input)));
      items.push(...(answer.Items ?? []));
      ExclusiveStartKey = answer.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined && items.length < options.limit);
    return items;
  }

  /** All or nothing. The caller retries after conflicts with other transactions. */
  async transact(actions: TransactWriteItem[], token: string): Promise<Transacted> {
    const input = { TransactItems: actions, ClientRequestToken: token };
    try {
      await this.#ask('TransactWriteItems', input, () =>
        this.#client.send(new TransactWriteItemsCommand(input)),
      );
      return { done: true };
    } catch (error) {
      // `#ask` throws it unchanged: it is an answer.
      if (error instanceof TransactionCanceledException)
        return { done: false, reasons: error.CancellationReasons ?? [] };
      throw error;
    }
  }

  /** Retried until it is done (true) or one of its conditions fails (false). */
  async transactSurely(actions: TransactWriteItem[], newToken: () => string): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      const result = await this.transact(actions, newToken());
      if (result.done) return true;
      if (result.reasons.some(({ Code }) => Code === 'ConditionalCheckFailed')) return false;
      if (tries >= CONFLICT_TRIES_MAX)
        throw new StoreFailure('database_unavailable', 'Others were at the same items all the time.');
      await this.#pause(tries);
    }
  }

  /** Puts without conditions, in no particular order; each may happen more than once. */
  async write(puts: readonly Item[]): Promise<void> {
    const { table } = this.address;
    for (let start = 0; start < puts.length; start += ITEMS_PER_WRITE) {
      let requests: BatchRequests | undefined = puts
        .slice(start, start + ITEMS_PER_WRITE)
        .map((Item) => ({ PutRequest: { Item } }));
      for (let tries = 0; requests !== undefined && requests.length > 0; tries += 1) {
        if (tries > 0) await this.#pause(tries);
        const input = { RequestItems: { [table]: requests } };
        const answer = await this.#ask('BatchWriteItem', input, () =>
          this.#client.send(new BatchWriteItemCommand(input)),
        );
        requests = answer.UnprocessedItems?.[table] as BatchRequests | undefined;
      }
    }
  }

  async #ask<O>(operation: string, input: unknown, send: () => Promise<O>): Promise<O> {
    const started_ms = this.#clock.elapsed_ms();
    for (let tries = 1; ; tries += 1) {
      try {
        const output = await send();
        this.#away = false;
        onRequest?.({ operation, input, output });
        return output;
      } catch (error) {
        onRequest?.({ operation, input, error });
        if (error instanceof TransactionCanceledException) {
          this.#away = false;
          throw error;
        }
        const fault = faultOf(error);
        if (this.#clock.elapsed_ms() - started_ms >= this.#patience_ms(fault)) {
          this.#away = fault === 'unsure';
          throw failure(error, this.address);
        }
        await this.#pause(tries);
      }
    }
  }

  /**
   * A call may need several requests: once one of them has waited in vain, the next ones try only once each.
   */
  #patience_ms(fault: Fault): number {
    if (fault === 'again') return THROTTLED_MS_MAX;
    return fault === 'unsure' && !this.#away ? AWAY_MS_MAX : 0;
  }

  /** Longer each time, and random, so that two callers don't retry in step. */
  async #pause(tries: number): Promise<void> {
    await this.#clock.sleep(this.#random.fraction() * Math.min(PAUSE_MS_MAX, 10 * 2 ** tries));
  }
}

type BatchRequests = { PutRequest: { Item: Item } }[];
