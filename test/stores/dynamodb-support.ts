import { ScanCommand, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { JsonObject } from '../../src/kernel/json.ts';
import { commit, type Decision } from '../../src/ledger/decision.ts';
import { defineEntities, type EntityType } from '../../src/ledger/entity.ts';
import type { Store, StoreContext } from '../../src/ledger/store-port.ts';
import type { Item } from '../../src/stores/dynamodb/item.ts';
import { openDynamoDb } from '../../src/stores/dynamodb/store.ts';
import { observeRequests, type RequestSeen } from '../../src/stores/dynamodb/table-client.ts';
import { cellContext } from '../conformance/cells.ts';
import { plainClient, type TestTable } from '../support/dynamodb.ts';

/** A record that is found wherever its state says, may be swept, and is as large as wanted. */
type ThingState = { sort?: string; links?: string[]; over_ms?: number; text?: string; grown?: number };

const thing = (kind: string, everyones: boolean): EntityType<ThingState> => ({
  kind,
  everyones,
  evolve(_state, { data }) {
    const { grown = 0, ...state } = data as ThingState;
    return grown === 0 ? state : { ...state, text: 'x'.repeat(grown) };
  },
  index: ({ sort, links }) => ({ sort, links }),
  over_ms: (state) => state.over_ms,
});

const context: StoreContext = {
  ...cellContext,
  entities: defineEntities(thing('thing', false), thing('book', true)),
};

export function openThings(url: string): Promise<Store> {
  return openDynamoDb(url, context);
}

/** Sets things, expecting others unchanged. */
export function setThings(
  states: Readonly<Record<string, ThingState>>,
  expects: { kind: string; id: string }[] = [],
  kind = 'thing',
): Decision<JsonObject> {
  const keys = Object.keys(states).map((id) => ({ kind, id }));
  return {
    needs: { keys: [...keys, ...expects] },
    decide: () =>
      commit(
        Object.entries(states).map(([id, data]) => ({ kind, id, type: 'set', data: data as JsonObject })),
        { success: true },
      ),
  };
}

/** What is asked of DynamoDB while something is done. */
export async function requestsOf(run: () => Promise<unknown>): Promise<RequestSeen[]> {
  const seen: RequestSeen[] = [];
  observeRequests((request) => seen.push(request));
  try {
    await run();
  } finally {
    observeRequests(undefined);
  }
  return seen;
}

/** The sort keys of each transaction's actions. */
export function touched(requests: readonly RequestSeen[]): string[][] {
  return requests
    .filter(({ operation }) => operation === 'TransactWriteItems')
    .map(({ input }) =>
      (input as { TransactItems: TransactWriteItem[] }).TransactItems.map(
        ({ Put, Delete, ConditionCheck }) => (Put?.Item ?? Delete?.Key ?? ConditionCheck?.Key)?.SK?.S ?? '',
      ),
    );
}

/** Everything in the table, as a person who looks into it sees it. */
export async function itemsOf({ endpoint, table }: TestTable): Promise<Item[]> {
  using client = await plainClient(endpoint);
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await client.sdk.send(new ScanCommand({ TableName: table, ExclusiveStartKey }));
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return items;
}
