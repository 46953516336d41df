// What requests to DynamoDB cost, by AWS's documented arithmetic, from what was asked and answered. DynamoDB Local's own count
// leaves out condition checks, and a table in the docs must not depend on who measures.

/** One request and its answer, as the SDK or the wire has them: attribute values such as `{ S: 'x' }`. */
export interface Exchange {
  readonly operation: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly error?: unknown;
}

export interface Units {
  readonly requests: number;
  readonly read_units: number;
  readonly write_units: number;
}

type Fields = Record<string, unknown>;
const READ_BYTES = 4096;
const WRITE_BYTES = 1024;
const MAP_BYTES = 3;

export const NOTHING: Units = { requests: 0, read_units: 0, write_units: 0 };

export function added(a: Units, b: Units): Units {
  return {
    requests: a.requests + b.requests,
    read_units: a.read_units + b.read_units,
    write_units: a.write_units + b.write_units,
  };
}

/** Names and values, a byte for two digits and one more for a number, three and one for each element of a list or map. */
export function itemBytes(item: unknown): number {
  return sum(Object.entries(fields(item)), ([name, value]) => utf8(name) + valueBytes(value));
}

function valueBytes(value: unknown): number {
  const [[type, held] = ['', '']] = Object.entries(fields(value));
  switch (type) {
    case 'S':
      return utf8(String(held));
    case 'N':
      return numberBytes(String(held));
    case 'B':
      return typeof held === 'string' ? Buffer.byteLength(held, 'base64') : (held as Uint8Array).byteLength;
    case 'L':
      return MAP_BYTES + sum(list(held), (one) => valueBytes(one) + 1);
    case 'M':
      return MAP_BYTES + itemBytes(held) + Object.keys(fields(held)).length;
    case 'SS':
    case 'NS':
    case 'BS':
      return sum(list(held), (one) => valueBytes({ [type.charAt(0)]: one }));
    default:
      // BOOL and NULL.
      return 1;
  }
}

function numberBytes(text: string): number {
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

/** Remembers how large each item was when it was last seen: what a deletion or a condition check costs depends on it. */
export class Meter {
  readonly #sizes = new Map<string, number>();
  readonly #done = new Set<string>();

  /** What this request cost. What was throttled, refused or never answered costs nothing. */
  cost({ operation, input, output, error }: Exchange): Units {
    const asked = fields(input);
    const answered = fields(output);
    const one = { ...NOTHING, requests: 1 };
    if (error !== undefined && !isBilledFailure(error)) return one;
    const cost = Object.hasOwn(COSTS, operation) ? COSTS[operation as keyof typeof COSTS] : undefined;
    return { ...one, ...cost?.call(this, asked, answered, error !== undefined) };
  }

  get(asked: Fields, { Item }: Fields): Partial<Units> {
    this.#note(asked.TableName, Item);
    return { read_units: readUnits(itemBytes(Item), asked.ConsistentRead) };
  }

  /** Each item is rounded up by itself; one that is not there costs like a small one. */
  batchGet({ RequestItems }: Fields, { Responses, UnprocessedKeys }: Fields): Partial<Units> {
    let read_units = 0;
    for (const [table, wanted] of Object.entries(fields(RequestItems))) {
      const { Keys, ConsistentRead } = fields(wanted);
      const found = list(fields(Responses)[table]);
      const left = list(fields(fields(UnprocessedKeys)[table]).Keys);
      for (const item of found) this.#note(table, item);
      read_units += sum(found, (item) => readUnits(itemBytes(item), ConsistentRead));
      read_units += (list(Keys).length - left.length - found.length) * readUnits(0, ConsistentRead);
    }
    return { read_units };
  }

  /** What was read is rounded up once, together. */
  query(asked: Fields, { Items }: Fields): Partial<Units> {
    for (const item of list(Items)) this.#note(asked.TableName, item);
    return { read_units: readUnits(sum(list(Items), itemBytes), asked.ConsistentRead) };
  }

  write(asked: Fields, _answered: Fields, failed: boolean): Partial<Units> {
    return { write_units: writeUnits(this.#written(asked, failed)) };
  }

  batchWrite({ RequestItems }: Fields, { UnprocessedItems }: Fields): Partial<Units> {
    let write_units = 0;
    for (const [table, writes] of Object.entries(fields(RequestItems))) {
      const left = new Set(list(fields(UnprocessedItems)[table]).map((one) => JSON.stringify(one)));
      for (const one of list(writes).filter((each) => !left.has(JSON.stringify(each)))) {
        const { PutRequest, DeleteRequest } = fields(one);
        const write = { TableName: table, ...fields(PutRequest ?? DeleteRequest) };
        write_units += writeUnits(this.#written(write, false));
      }
    }
    return { write_units };
  }

  /**
   * Each action costs twice; a condition check counts as a write, and a failed condition spares nothing. The same token again
   * only reads what was written.
   */
  transact(
    { TransactItems, ClientRequestToken }: Fields,
    _answered: Fields,
    failed: boolean,
  ): Partial<Units> {
    const actions = list(TransactItems).flatMap((action) => Object.entries(fields(action)));
    const isRepeated = typeof ClientRequestToken === 'string' && this.#done.has(ClientRequestToken);
    if (isRepeated)
      return { read_units: 2 * sum(actions, ([, asked]) => readUnits(this.#known(asked), true)) };
    if (!failed && typeof ClientRequestToken === 'string') this.#done.add(ClientRequestToken);
    const bytesOf = ([kind, asked]: [string, unknown]) =>
      kind === 'ConditionCheck' ? this.#known(asked) : this.#written(fields(asked), failed);
    return { write_units: 2 * sum(actions, (action) => writeUnits(bytesOf(action))) };
  }

  /** The larger of what was there and what is there now. */
  #written(asked: Fields, failed: boolean): number {
    const before = this.#known(asked);
    const { Item, Key, TableName, UpdateExpression } = asked;
    if (Item === undefined && UpdateExpression === undefined) {
      if (!failed) this.#sizes.delete(identity(TableName, Key));
      return before;
    }
    // Of an update only the changed values are seen: the least it can be.
    const least = itemBytes(Key) + sum(Object.values(fields(asked.ExpressionAttributeValues)), valueBytes);
    const after = Item === undefined ? Math.max(before, least) : itemBytes(Item);
    if (!failed) this.#sizes.set(identity(TableName, Item ?? Key), after);
    return Math.max(before, after);
  }

  #known(asked: unknown): number {
    const { TableName, Item, Key } = fields(asked);
    return this.#sizes.get(identity(TableName, Item ?? Key)) ?? 0;
  }

  #note(table: unknown, item: unknown): void {
    if (item !== undefined) this.#sizes.set(identity(table, item), itemBytes(item));
  }
}

const COSTS = {
  GetItem: Meter.prototype.get,
  BatchGetItem: Meter.prototype.batchGet,
  Query: Meter.prototype.query,
  PutItem: Meter.prototype.write,
  UpdateItem: Meter.prototype.write,
  DeleteItem: Meter.prototype.write,
  BatchWriteItem: Meter.prototype.batchWrite,
  TransactWriteItems: Meter.prototype.transact,
};

/** A failed condition was looked at, and looking is paid for. */
function isBilledFailure(error: unknown): boolean {
  return /^(ConditionalCheckFailed|TransactionCanceled)Exception$/.test(String(fields(error).name));
}

function readUnits(bytes: number, consistent: unknown): number {
  return Math.max(1, Math.ceil(bytes / READ_BYTES)) * (consistent === true ? 1 : 0.5);
}

function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_BYTES));
}

function identity(table: unknown, keyed: unknown): string {
  const { PK, SK } = fields(keyed);
  return JSON.stringify([table, PK, SK]);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function utf8(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
