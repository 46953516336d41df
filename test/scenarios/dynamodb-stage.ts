import { DeleteItemCommand, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { ClaimRules } from '../../src/features/claims/claim-rules.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, type Difference, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { plainClient } from '../support/dynamodb.ts';
import { Behind } from '../support/dynamodb-behind.ts';
import { SEED_RULES, TestFleet } from '../support/fleet.ts';

export type Item = Readonly<Record<string, { S?: string; N?: string }>>;

export interface Stage {
  readonly behind: Behind;
  readonly coxswain: Coxswain;
  readonly fleet: TestFleet;
  /** Another process of the fleet, as far as the store can tell. */
  another(): Promise<TestFleet>;
  /** So much later by the store's clock; this machine's stays as it is. */
  pass(by_s: number): Promise<void>;
}

/** One story on a table of its own, behind a proxy that counts and that sets the store's clock. */
export async function play(
  tell: (stage: Stage) => Promise<void>,
  rules: Partial<ClaimRules> = {},
): Promise<void> {
  await using behind = await Behind.start();
  let by_s = 0;
  behind.proxy.inject(() => (by_s === 0 ? undefined : { is: 'clock', by_s }));
  const all = { ...SEED_RULES, ...rules };
  const coxswain = await behind.open();
  await tell({
    behind,
    coxswain,
    fleet: new TestFleet(coxswain, all),
    another: async () => new TestFleet(await behind.open(), all),
    async pass(more_s) {
      by_s += more_s;
      // The process hears of it with the next answer, whatever it is about.
      await coxswain.store.find(coxswain.project, { keys: [{ kind: 'lock', id: 'none' }] });
    },
  });
}

const keyOf = (SK: string, PK = 'default') => ({ PK: { S: PK }, SK: { S: SK } });

export async function itemAt({ table }: Behind, SK: string): Promise<Item | undefined> {
  using client = await plainClient(table.endpoint);
  const asked = { TableName: table.table, Key: keyOf(SK), ConsistentRead: true };
  return (await client.sdk.send(new GetItemCommand(asked))).Item as Item | undefined;
}

/** What is kept of a project under sort keys with this beginning. */
export async function sortKeys({ table }: Behind, prefix: string): Promise<string[]> {
  using client = await plainClient(table.endpoint);
  const { Items = [] } = await client.sdk.send(
    new QueryCommand({
      TableName: table.table,
      ConsistentRead: true,
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :prefix)',
      ExpressionAttributeValues: { ':pk': { S: 'default' }, ':prefix': { S: prefix } },
    }),
  );
  return Items.map(({ SK }) => SK?.S ?? '');
}

/** The rows of the log, put in order or not. */
export async function rowsOf({ table }: Behind): Promise<Item[]> {
  using client = await plainClient(table.endpoint);
  const { Items = [] } = await client.sdk.send(
    new QueryCommand({
      TableName: table.table,
      ConsistentRead: true,
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'default#log' } },
    }),
  );
  return Items as Item[];
}

/** As TTL does it: without telling any process, and without what belongs to it. */
export async function sweep({ table }: Behind, SK: string): Promise<void> {
  using client = await plainClient(table.endpoint);
  await client.sdk.send(new DeleteItemCommand({ TableName: table.table, Key: keyOf(SK) }));
}

export async function replayDifferences({ coxswain }: Stage): Promise<Difference[]> {
  const { store, project } = coxswain;
  return await compareWithLive(store, entities, project, await replay(store, entities, project));
}

/** The items that a commit was about: `Put CLAIM#F-1#design_code`. */
export function touched(body: JsonObject): string[] {
  return (body.TransactItems as Record<string, { Item?: Item; Key?: Item }>[]).flatMap((action) =>
    Object.entries(action).map(([what, { Item, Key }]) => `${what} ${(Item ?? Key)?.SK?.S}`),
  );
}
