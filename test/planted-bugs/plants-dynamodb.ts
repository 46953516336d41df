import type { Plant } from './plants.ts';

const faults = 'test/stores/dynamodb-faults.long.test.ts';
const clock = 'test/stores/dynamodb-clock.test.ts';
const scenarios = 'test/scenarios/dynamodb.test.ts';
const dynamodb = (name: string) => `src/stores/dynamodb/${name}.ts`;

/** Transactions, tokens and time of a table that others write to as well. */
export const tabling: readonly Plant[] = [
  {
    name: 'DynamoDB: records are read as they may have been',
    file: dynamodb('table-client'),
    from: '{ Keys: keys, ConsistentRead: true }',
    to: '{ Keys: keys }',
    tests: [faults],
  },
  {
    name: 'DynamoDB: a record may have changed as long as it is there',
    file: dynamodb('transaction-plan'),
    from: "ConditionExpression: 'version = :version',",
    to: "ConditionExpression: 'attribute_exists(PK) OR version = :version',",
    tests: [scenarios],
  },
  {
    name: 'DynamoDB: what was only read may change meanwhile',
    file: dynamodb('transaction-plan'),
    from: '...proposal.expects.flatMap((expected) => this.#expect(request, expected)),',
    to: '',
    tests: [scenarios],
  },
  {
    name: 'DynamoDB: a record of all leaves its witnesses behind',
    file: dynamodb('transaction-plan'),
    from: 'witness < WITNESSES; witness += 1',
    to: 'witness < 0; witness += 1',
    tests: [scenarios],
  },
  {
    name: 'DynamoDB: swept as soon as it has run out',
    file: dynamodb('item'),
    from: '(over_ms + after_ms) / 1000',
    to: 'over_ms / 1000',
    tests: [scenarios],
  },
  {
    name: 'DynamoDB: the log does not say what was made anew',
    file: dynamodb('committer'),
    from: 'made.length === 0 ? undefined : made.map(keyText)',
    to: 'made.length === 0 ? undefined : []',
    tests: [scenarios],
  },
  {
    name: 'DynamoDB: a conflict is a refusal',
    file: dynamodb('committer'),
    from: "return Code === 'TransactionConflict' || THROTTLED.has(Code);",
    to: 'return THROTTLED.has(Code);',
    tests: [faults],
  },
  {
    name: 'DynamoDB: a conflict makes it read again',
    file: dynamodb('committer'),
    from: "reasons.some(({ Code }) => Code === 'ConditionalCheckFailed')",
    to: "reasons.some(({ Code }) => Code !== 'None')",
    tests: [faults],
  },
  {
    name: 'DynamoDB: its own commit is taken for another’s',
    file: dynamodb('committer'),
    from: "if (about.is === 'row') return { status: 'committed', stamp: 0 };",
    to: '',
    tests: [faults],
  },
  {
    name: 'DynamoDB: sent again under a new token',
    file: dynamodb('table-client'),
    from: 'this.#client.send(new TransactWriteItemsCommand(input)),',
    to: 'this.#client.send(new TransactWriteItemsCommand({ ...input, ClientRequestToken: String(Math.random()) })),',
    tests: [faults],
  },
  {
    name: 'DynamoDB: unprocessed keys are as good as absent',
    file: dynamodb('table-client'),
    from: 'keys = answer.UnprocessedKeys?.[table]?.Keys;',
    to: 'keys = undefined;',
    tests: [faults],
  },
  {
    name: 'DynamoDB: unprocessed index entries are dropped',
    file: dynamodb('table-client'),
    from: 'requests = answer.UnprocessedItems?.[table] as BatchRequests | undefined;',
    to: 'requests = undefined;',
    tests: [faults],
  },
  {
    name: 'DynamoDB: two readers give a row two positions',
    file: dynamodb('ordered-log'),
    from: "const waits = { ConditionExpression: 'attribute_exists(PK)' };",
    to: 'const waits = {};',
    tests: [faults],
  },
  {
    name: 'DynamoDB: the log is put in order by one look',
    file: dynamodb('ordered-log'),
    from: 'const again = await this.#look(project, last, ROWS_PER_MOVE);',
    to: 'const again = rows;',
    tests: ['test/stores/dynamodb-log.test.ts'],
  },
  {
    name: 'DynamoDB: rows to be removed stay when others are at them',
    file: dynamodb('table-client'),
    from: 'if (result.done) return true;',
    to: 'return result.done;',
    tests: [faults],
  },
  {
    name: 'DynamoDB: it is as late as it can be there',
    file: dynamodb('store'),
    from: 'return this.#table.time.earliest_ms();',
    to: 'return this.#table.time.latest_ms();',
    tests: [clock],
  },
  {
    name: 'DynamoDB: leases go by the clock of this machine',
    file: dynamodb('table-client'),
    from: '(seen) => this.time.learn(seen)',
    to: '(seen) => this.time.learn({ ...seen, date_ms: clock.now_ms() })',
    tests: [clock],
  },
];
