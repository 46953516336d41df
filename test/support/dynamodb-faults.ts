// What DynamoDB does to its clients and DynamoDB Local never shows, as AWS words it.
import type { JsonObject } from '../../src/kernel/json.ts';

type CancelCode = 'TransactionConflict' | 'ThrottlingError' | 'ProvisionedThroughputExceeded';

export type Fault =
  /** Cancelled for some of its actions, by their index; unless said, the first one met another transaction. Nothing is done.
   *  A write of one item meets another transaction as a whole. */
  | { readonly is: 'cancelled'; readonly reasons?: Readonly<Record<number, CancelCode>> }
  /** Too much asked for. Nothing is done. */
  | { readonly is: 'throttled'; readonly as?: keyof typeof THROTTLED }
  /** The same request token is being worked on; `applied`: and with success. */
  | { readonly is: 'in_progress'; readonly applied?: boolean }
  | { readonly is: 'server_error'; readonly applied: boolean }
  /** The line breaks; with `applied` the answer is lost and not the request. */
  | { readonly is: 'reset'; readonly applied: boolean }
  /** The request reaches the server late (perhaps after its sender has given up), or the answer its client. */
  | { readonly is: 'late'; readonly by_ms: number; readonly what: 'request' | 'answer' }
  /** Of a batch only so many entries are worked on, half unless said; the rest comes back. */
  | { readonly is: 'unprocessed'; readonly processed?: number }
  /** The server's clock is off, as the `Date` header shows it. */
  | { readonly is: 'clock'; readonly by_s: number }
  /** A read that does not ask for consistency gets what the same read would have got the last time it was asked, and
   *  nothing at the first: a process that decides by it decides wrongly. */
  | { readonly is: 'stale' };

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

const MODEL = 'com.amazonaws.dynamodb.v20120810';

const THROTTLED = {
  ThrottlingException:
    'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key.',
  ProvisionedThroughputExceededException:
    'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  RequestLimitExceeded:
    'Throughput exceeds the current throughput limit for your account. Please contact AWS Support at https://aws.amazon.com/support to request a limit increase.',
} as const;

const CANCELLED: Readonly<Record<CancelCode, string>> = {
  TransactionConflict: 'Transaction is ongoing for the item',
  ThrottlingError: THROTTLED.ThrottlingException,
  ProvisionedThroughputExceeded: THROTTLED.ProvisionedThroughputExceededException,
};

function refusal(name: string, message: string, status = 400): Answer {
  return { status, body: { __type: `${MODEL}#${name}`, message } };
}

/** What the client is told instead of the server's answer; undefined for the faults that let one through. */
export function refusalFor(fault: Fault, body: JsonObject): Answer | undefined {
  switch (fault.is) {
    case 'cancelled':
      return cancelled(body, fault.reasons ?? { 0: 'TransactionConflict' });
    case 'throttled': {
      const name = fault.as ?? 'ThrottlingException';
      return refusal(name, THROTTLED[name]);
    }
    case 'in_progress':
      return refusal(
        'TransactionInProgressException',
        'The transaction with the given request token is already in progress.',
      );
    case 'server_error':
      return refusal('InternalServerError', 'Internal server error', 500);
    default:
      return undefined;
  }
}

function cancelled(body: JsonObject, codes: Readonly<Record<number, CancelCode>>): Answer {
  if (!Array.isArray(body.TransactItems))
    return refusal('TransactionConflictException', CANCELLED.TransactionConflict);
  const reasons = body.TransactItems.map((_, index) => {
    const code = codes[index];
    return code === undefined ? { Code: 'None' } : { Code: code, Message: CANCELLED[code] };
  });
  const list = reasons.map(({ Code }) => Code).join(', ');
  return {
    status: 400,
    body: {
      __type: `${MODEL}#TransactionCanceledException`,
      CancellationReasons: reasons,
      Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`,
    },
  };
}

const ONE_ITEM_WRITES = ['PutItem', 'UpdateItem', 'DeleteItem'];
const TRANSACTIONS = ['TransactWriteItems', 'TransactGetItems'];
const BATCHES = ['BatchGetItem', 'BatchWriteItem'];

/** Whether DynamoDB could do this to such a request; to others a rule does nothing and is not used up. */
export function fits(fault: Fault, operation: string, body: JsonObject): boolean {
  switch (fault.is) {
    case 'cancelled':
      return [...TRANSACTIONS, ...ONE_ITEM_WRITES].includes(operation);
    case 'in_progress':
      return operation === 'TransactWriteItems';
    case 'unprocessed':
      return BATCHES.includes(operation);
    case 'stale':
      return weakTables(operation, body).length > 0;
    default:
      return true;
  }
}

/** The tables that this request reads without asking for consistency. */
export function weakTables(operation: string, body: JsonObject): string[] {
  if (operation === 'BatchGetItem')
    return Object.entries(tablesOf(body))
      .filter(([, wanted]) => (wanted as JsonObject).ConsistentRead !== true)
      .map(([table]) => table);
  const reads = ['GetItem', 'Query', 'Scan'].includes(operation);
  return reads && body.ConsistentRead !== true ? [String(body.TableName)] : [];
}

/** What a read without consistency answers while `earlier` is all that has reached its replica. */
export function lagging(
  operation: string,
  weak: readonly string[],
  now: JsonObject,
  earlier?: JsonObject,
): JsonObject {
  if (operation === 'GetItem') return earlier ?? {};
  if (operation !== 'BatchGetItem') return earlier ?? { Count: 0, Items: [], ScannedCount: 0 };
  const then = (earlier?.Responses ?? {}) as JsonObject;
  const old = Object.fromEntries(weak.map((table) => [table, then[table] ?? []]));
  return { ...now, Responses: { ...(now.Responses as JsonObject), ...old } };
}

function tablesOf(body: JsonObject): JsonObject {
  return (body.RequestItems ?? {}) as JsonObject;
}

type Entry = readonly [table: string, entry: JsonObject];

/** A batch in two: what is worked on now, and what comes back as unprocessed. */
export function splitBatch(
  body: JsonObject,
  processed?: number,
): { now: JsonObject | undefined; left: JsonObject } {
  const tables = tablesOf(body);
  const entries: Entry[] = Object.entries(tables).flatMap(([table, wanted]) =>
    entriesOf(wanted).map((entry) => [table, entry] as const),
  );
  const count = processed ?? Math.floor(entries.length / 2);
  const now = entries.slice(0, count);
  return {
    now: now.length === 0 ? undefined : { ...body, RequestItems: joined(tables, now) },
    left: joined(tables, entries.slice(count)),
  };
}

/** BatchGetItem has the keys of a table beside how they are to be read; BatchWriteItem has a list only. */
function entriesOf(wanted: unknown): JsonObject[] {
  return (Array.isArray(wanted) ? wanted : (wanted as JsonObject).Keys) as JsonObject[];
}

function joined(tables: JsonObject, entries: readonly Entry[]): JsonObject {
  const items: JsonObject = {};
  for (const [table, wanted] of Object.entries(tables)) {
    const own = entries.filter(([of]) => of === table).map(([, entry]) => entry);
    if (own.length > 0) items[table] = Array.isArray(wanted) ? own : { ...(wanted as JsonObject), Keys: own };
  }
  return items;
}

/** The server's answer to a part of the batch, with the rest in it. */
export function withUnprocessed(operation: string, answer: JsonObject, left: JsonObject): JsonObject {
  const name = operation === 'BatchGetItem' ? 'UnprocessedKeys' : 'UnprocessedItems';
  return { ...answer, [name]: { ...((answer[name] ?? {}) as JsonObject), ...left } };
}
