import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { failure, faultOf, wrongKeys } from './failures.ts';
import { makeClient } from './sdk.ts';
import { type DynamoAddress, parseAddress } from './table-address.ts';

export interface TableReport extends JsonObject {
  table: string;
  created: boolean;
  billing: 'on_demand' | 'provisioned';
  ttl: 'enabled' | 'already';
  /** `unsupported`: DynamoDB Local has no backups. */
  point_in_time_recovery: 'enabled' | 'already' | 'unsupported';
}

export interface Patience {
  readonly clock?: Clock | undefined;
  /** AWS takes seconds to create a table, and up to a minute to switch on backups of a new one. */
  readonly patience_ms?: number | undefined;
}

const PATIENCE_MS = 180_000;
const PAUSE_MS = 250;
/** Consecutive failures. A person is waiting, and may have named an address where no server answers. */
const FAILURES_MAX = 4;
const TTL = 'ttl';
const KEYS = 'PK (HASH, S), SK (RANGE, S)';
const SHAPE = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'PK', AttributeType: 'S' },
    { AttributeName: 'SK', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'PK', KeyType: 'HASH' },
    { AttributeName: 'SK', KeyType: 'RANGE' },
  ],
} satisfies Partial<CreateTableCommandInput>;

/**
 * Creates the table as the store needs it, or adds what is missing. Safe to call any number of times, from
 * any number of callers.
 */
export async function createTable(url: string, patience: Patience = {}): Promise<TableReport> {
  const address = parseAddress(url);
  const client = makeClient(address);
  const making = new Making(client, address, patience);
  try {
    const created = await making.table();
    const { BillingModeSummary } = await making.active();
    return {
      table: address.table,
      created,
      billing: BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST' ? 'on_demand' : 'provisioned',
      ttl: await making.timeToLive(),
      point_in_time_recovery: await making.recovery(),
    };
  } catch (error) {
    throw failure(error, address);
  } finally {
    client.destroy();
  }
}

/**
 * Each step looks first and changes only what is not yet as it should be. A step that collides with another
 * caller looks again.
 */
class Making {
  readonly #client: DynamoDBClient;
  readonly #address: DynamoAddress;
  readonly #clock: Clock;
  readonly #until_ms: number;

  constructor(client: DynamoDBClient, address: DynamoAddress, { clock, patience_ms }: Patience) {
    this.#client = client;
    this.#address = address;
    this.#clock = clock ?? systemClock;
    this.#until_ms = this.#clock.elapsed_ms() + (patience_ms ?? PATIENCE_MS);
  }

  /** True: this call created it. */
  async table(): Promise<boolean> {
    let mayHave = false;
    return await this.#patiently(async () => {
      if ((await this.#described()) !== undefined) return mayHave;
      try {
        await this.#client.send(new CreateTableCommand({ TableName: this.#address.table, ...SHAPE }));
        return true;
      } catch (error) {
        // The answer was lost: if the table is there now, this call made it.
        mayHave ||= faultOf(error) === 'unsure';
        // Another caller is creating it: the next look says how far it is.
        if (nameOf(error) === 'ResourceInUseException') return undefined;
        throw error;
      }
    }, 'creating the table');
  }

  async active(): Promise<TableDescription> {
    return await this.#patiently(async () => {
      const table = await this.#described();
      if (table === undefined) return undefined;
      const found = keysOf(table);
      if (found !== KEYS) throw new StoreFailure(...wrongKeys(this.#address, found));
      if (table.TableStatus === 'DELETING')
        throw unusable(`The table ${this.#address.table} is being deleted: run this again when it is gone.`);
      // A table that is UPDATING still serves requests.
      return table.TableStatus === 'CREATING' ? undefined : table;
    }, 'waiting for the table');
  }

  async timeToLive(): Promise<'enabled' | 'already'> {
    let mayHave = false;
    return await this.#patiently(async () => {
      if (await this.#expires()) return mayHave ? 'enabled' : 'already';
      try {
        await this.#client.send(
          new UpdateTimeToLiveCommand({
            TableName: this.#address.table,
            TimeToLiveSpecification: { AttributeName: TTL, Enabled: true },
          }),
        );
        return 'enabled';
      } catch (error) {
        mayHave ||= faultOf(error) === 'unsure';
        if (nameOf(error) !== 'ValidationException') throw error;
        // Another caller was faster, or it was changed so recently that AWS allows no change for an hour.
        if (await this.#expires()) return 'already';
        throw unusable(
          `The expiry of the table ${this.#address.table} can't be switched on now: ${(error as Error).message}`,
        );
      }
    }, 'switching on the expiry of items');
  }

  async #expires(): Promise<boolean> {
    const { table } = this.#address;
    const { TimeToLiveDescription } = await this.#client.send(
      new DescribeTimeToLiveCommand({ TableName: table }),
    );
    const { TimeToLiveStatus, AttributeName } = TimeToLiveDescription ?? {};
    if (TimeToLiveStatus !== 'ENABLED' && TimeToLiveStatus !== 'ENABLING') return false;
    if (AttributeName === TTL) return true;
    throw unusable(
      `The table ${table} expires items by its attribute ${AttributeName}, not by ${TTL}: it belongs to something else. Choose another name.`,
    );
  }

  async recovery(): Promise<'enabled' | 'already' | 'unsupported'> {
    const TableName = this.#address.table;
    return await this.#patiently(async () => {
      try {
        const { ContinuousBackupsDescription } = await this.#client.send(
          new DescribeContinuousBackupsCommand({ TableName }),
        );
        const status =
          ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
        if (status === 'ENABLED') return 'already';
        const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
        await this.#client.send(
          new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }),
        );
        return 'enabled';
      } catch (error) {
        if (nameOf(error) === 'UnknownOperationException') return 'unsupported';
        // AWS sets up the backups of a new table in the background.
        if (nameOf(error) === 'ContinuousBackupsUnavailableException') return undefined;
        throw error;
      }
    }, 'switching on point-in-time recovery');
  }

  async #described(): Promise<TableDescription | undefined> {
    try {
      return (await this.#client.send(new DescribeTableCommand({ TableName: this.#address.table }))).Table;
    } catch (error) {
      if (nameOf(error) === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  /** Repeats a step until it has an answer; conditions that pass by themselves are waited for. */
  async #patiently<T>(step: () => Promise<T | undefined>, doing: string): Promise<T> {
    for (let failures = 0; ; ) {
      try {
        const done = await step();
        if (done !== undefined) return done;
        failures = 0;
      } catch (error) {
        failures += 1;
        if (faultOf(error) === 'final' || failures >= FAILURES_MAX) throw error;
      }
      if (this.#clock.elapsed_ms() + PAUSE_MS > this.#until_ms)
        throw new StoreFailure('database_unavailable', this.#late(doing));
      await this.#clock.sleep(PAUSE_MS);
    }
  }

  #late(doing: string): string {
    return `The table ${this.#address.table} is not ready yet (${doing}). Run this again: it goes on where it was.`;
  }
}

function keysOf({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  return KeySchema.map(
    ({ AttributeName, KeyType }) => `${AttributeName} (${KeyType}, ${typeOf(AttributeName)})`,
  ).join(', ');
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

function unusable(message: string): StoreFailure {
  return new StoreFailure('store_unusable', message);
}
