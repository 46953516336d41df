// `npm test`: the static checks side by side, while the servers start that the tests want (PostgreSQL, and DynamoDB Local
// where there is Java); then the tests.
// Arguments choose test files by a part of their path: `npm test -- lock`. Those whose name has `.long.` in it start crowds
// of processes, kill them and wait for them; they have their own turn: `npm run test:long`.
// `npm run test:fast`: what needs no server and starts no processes, without the static checks; `npm run test:watch` repeats it at
// every change.
// A file that fails is run once more, with the machine to itself. Passes it then, the run says so and goes on: that test
// depends on how busy the machine is, and is to be mended.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AWS_FOR_TESTS } from '../test/support/aws.ts';
import { startDynamoDb } from '../test/support/dynamodb.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { leftOutNotice, needsDynamoDb, readyJava } from './java.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TEST_CONCURRENCY = 3;
const TEST_FILE_MS_MAX = 300_000;
/** More than so many failures are no matter of a busy machine. */
const SECOND_LOOKS_MAX = 3;
/** Each of these keeps every core busy by itself; what others measure in time would suffer beside it. */
const CROWDS = /^test\/(chaos|linearizability)\/.*\.long\./;

/** Pure deciders, parsers and rules: quick enough to be run at every change. */
const FAST =
  /^test\/(?:kernel|ledger|golden|command-analysis|planted-bugs|tidy\/house|features\/(?:claims|trust|queue|locks|teams|sessions|keys|changesets|network\/(?:host|judge|client-hello)|guardrails\/guard-(?!corpus)|board\/board-|workdir\/workdir-|verification\/(?:plan|decisions|test-required)|port-blocks\/(?:config|decide))[\w-]*)/;

const STATIC_CHECKS = [
  ['format and lint', 'biome', 'ci', '--colors=off', '--error-on-warnings', '.'],
  ['types', 'tsc', '--noEmit'],
  ['import direction', 'depcruise', '--output-type', 'err', 'src'],
  ['dead code', 'knip', '--no-progress', '--no-config-hints'],
] as const;

/** Every test file and what it starts is a process that loads the sources: half of that is saved by doing it once. */
const COMPILE_CACHE = join(root, 'node_modules', '.cache', 'coxswain-test');

/** A developer's own store, identity or git hook must not leak into the tests. */
function environment(): NodeJS.ProcessEnv {
  const foreign =
    /^(COX_(?!TEST_)|GIT_|COORDINATION_API_|AWS_)|^(AGENT_ID|AGENT_TYPE|AGENT_ROLE|SESSION_ID|NODE_TEST_CONTEXT)$/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { NODE_COMPILE_CACHE: COMPILE_CACHE, ...AWS_FOR_TESTS, ...Object.fromEntries(own) };
}

function seconds(since_ms: number): string {
  return `${((performance.now() - since_ms) / 1000).toFixed(1)} s`;
}

async function check([name, command, ...args]: readonly [string, string, ...string[]]): Promise<boolean> {
  const start_ms = performance.now();
  const child = spawn(join(root, 'node_modules', '.bin', command), args, {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  const passed = code === 0;
  console.log(
    passed ? `✔ ${name}: ${command} (${seconds(start_ms)})` : `\n✖ ${name}: ${command}\n${output.trim()}\n`,
  );
  return passed;
}

function chooseFiles(filters: string[], long: boolean): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).sort();
  if (filters.length > 0) return files.filter((file) => filters.some((filter) => file.includes(filter)));
  return files.filter((file) => file.includes('.long.') === long);
}

function fastFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((file) => FAST.test(file) && !file.includes('.long.') && !/postgres|dynamodb/.test(file))
    .sort();
}

async function runFast(watched: boolean): Promise<number> {
  if (!watched) return await runTests(fastFiles(), { env: {}, stop: async () => {} });
  const child = spawn(process.execPath, ['--test', '--watch', '--test-reporter=dot', ...fastFiles()], {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

interface Turn {
  readonly files: readonly string[];
  readonly concurrency: number;
}

/** The files that failed. */
async function runTurn({ files, concurrency }: Turn, servers: Servers): Promise<string[]> {
  if (files.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'cox-test-run-'));
  const list = join(folder, 'failed');
  const flags = [
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${TEST_FILE_MS_MAX}`,
    '--test-reporter=./scripts/reporter.ts',
    '--test-reporter-destination=stdout',
  ];
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    env: { ...environment(), ...servers.env, COX_TEST_FAILED: list },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const [code] = await once(child, 'close');
    const failed = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : [];
    if (code !== 0 && failed.length === 0) throw new Error(`the test runner ended with ${code}`);
    return failed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each `cox` that a test starts is there in a third of the time. Where it can't be built, they run from the sources. */
function buildBundle(): void {
  spawnSync(process.execPath, [join(root, 'scripts', 'build-cox.ts'), '--if-old'], { stdio: 'inherit' });
}

async function runTests(files: readonly string[], servers: Servers): Promise<number> {
  buildBundle();
  const turns: Turn[] = [
    { files: files.filter((file) => CROWDS.test(file)), concurrency: 1 },
    { files: files.filter((file) => !CROWDS.test(file)), concurrency: TEST_CONCURRENCY },
  ];
  const failed: string[] = [];
  for (const turn of turns) failed.push(...(await runTurn(turn, servers)));
  if (failed.length === 0) return 0;
  if (failed.length > SECOND_LOOKS_MAX) return 1;
  console.log(`\nOnce more, one at a time: ${failed.join(', ')}`);
  const again = await runTurn({ files: failed, concurrency: 1 }, servers);
  const unsteady = failed.filter((file) => !again.includes(file));
  if (unsteady.length > 0)
    console.log(`! failed beside others and passed alone, to be mended: ${unsteady.join(', ')}`);
  return again.length === 0 ? 0 : 1;
}

/** What the tests are told of the servers that were started for them. */
interface Servers {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

async function startServers(files: readonly string[]): Promise<Servers> {
  const starting = [
    started('PostgreSQL', startPostgres({ fsync: false }), ({ url }) => ({ COX_TEST_POSTGRES_URL: url })),
  ];
  if (files.some(needsDynamoDb))
    starting.push(
      started('DynamoDB Local', startDynamoDb(), ({ endpoint }) => ({
        COX_TEST_DYNAMODB_ENDPOINT: endpoint,
      })),
    );
  const servers = await Promise.all(starting);
  return {
    env: Object.assign({}, ...servers.map(({ env }) => env)),
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function started<S extends { stop(): Promise<void> }>(
  name: string,
  starting: Promise<S>,
  address: (server: S) => Servers['env'],
): Promise<Servers> {
  const start_ms = performance.now();
  const server = await starting;
  console.log(`✔ ${name} for the tests (${seconds(start_ms)})`);
  return { env: address(server), stop: () => server.stop() };
}

async function checkAndRun(files: readonly string[], checked: boolean): Promise<number> {
  const starting = startServers(files);
  starting.catch(() => {}); // reported below, once the checks have had their say
  const checks = await Promise.all(checked ? STATIC_CHECKS.map(check) : []);
  if (!checks.every(Boolean)) {
    console.error('The static checks failed; the tests were not run.');
    await starting.then(
      (servers) => servers.stop(),
      () => {},
    );
    return 1;
  }
  const servers = await starting;
  try {
    return await runTests(files, servers);
  } finally {
    await servers.stop();
  }
}

async function main(words: string[]): Promise<number> {
  if (words.includes('--fast')) return await runFast(words.includes('--watch'));
  const long = words.includes('--long');
  const filters = words.filter((word) => word !== '--long');
  const files = chooseFiles(filters, long);
  if (files.length === 0) {
    console.error(
      `no test file under test/ has ${filters.map((filter) => `"${filter}"`).join(' or ')} in its path`,
    );
    return 2;
  }
  const wanting = files.filter(needsDynamoDb);
  const missing = wanting.length === 0 ? undefined : await readyJava();
  if (missing === undefined) return await checkAndRun(files, !long);

  const required = process.env.COX_TEST_REQUIRE_JAVA === '1';
  const others = files.filter((file) => !needsDynamoDb(file));
  const code = required || others.length === 0 ? 0 : await checkAndRun(others, !long);
  // Last, where it is seen.
  console.error(leftOutNotice(wanting, missing));
  return required ? 1 : code;
}

const start_ms = performance.now();
process.exitCode = await main(process.argv.slice(2));
console.log(`# total ${seconds(start_ms)}${process.exitCode === 0 ? '' : ', failed'}`);
