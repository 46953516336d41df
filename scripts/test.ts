// `npm test`: the static checks side by side, while a PostgreSQL server starts for the tests; then the tests.
// Arguments choose test files by a part of their path: `npm test -- lock`. Those whose name has `.long.` in it start crowds
// of processes, kill them and wait for them; they have their own turn: `npm run test:long`.
// A file that fails is run once more, with the machine to itself. Passes it then, the run says so and goes on: that test
// depends on how busy the machine is, and is to be mended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TEST_CONCURRENCY = 3;
const TEST_FILE_MS_MAX = 300_000;
/** More than so many failures are no matter of a busy machine. */
const SECOND_LOOKS_MAX = 3;
/** Each of these keeps every core busy by itself; what others measure in time would suffer beside it. */
const CROWDS = /^test\/(chaos|linearizability)\/.*\.long\./;

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
    /^(COX_(?!TEST_)|GIT_|COORDINATION_API_)|^(AGENT_ID|AGENT_TYPE|AGENT_ROLE|SESSION_ID|NODE_TEST_CONTEXT)$/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { NODE_COMPILE_CACHE: COMPILE_CACHE, ...Object.fromEntries(own) };
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

interface Turn {
  readonly files: readonly string[];
  readonly concurrency: number;
}

/** The files that failed. */
async function runTurn({ files, concurrency }: Turn, postgresUrl: string): Promise<string[]> {
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
    env: { ...environment(), COX_TEST_POSTGRES_URL: postgresUrl, COX_TEST_FAILED: list },
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

async function runTests(files: string[], postgresUrl: string): Promise<number> {
  const turns: Turn[] = [
    { files: files.filter((file) => CROWDS.test(file)), concurrency: 1 },
    { files: files.filter((file) => !CROWDS.test(file)), concurrency: TEST_CONCURRENCY },
  ];
  const failed: string[] = [];
  for (const turn of turns) failed.push(...(await runTurn(turn, postgresUrl)));
  if (failed.length === 0) return 0;
  if (failed.length > SECOND_LOOKS_MAX) return 1;
  console.log(`\nOnce more, one at a time: ${failed.join(', ')}`);
  const again = await runTurn({ files: failed, concurrency: 1 }, postgresUrl);
  const unsteady = failed.filter((file) => !again.includes(file));
  if (unsteady.length > 0)
    console.log(`! failed beside others and passed alone, to be mended: ${unsteady.join(', ')}`);
  return again.length === 0 ? 0 : 1;
}

async function startServer(): Promise<PostgresServer> {
  const start_ms = performance.now();
  const server = await startPostgres({ fsync: false });
  console.log(`✔ PostgreSQL for the tests (${seconds(start_ms)})`);
  return server;
}

async function main(words: string[]): Promise<number> {
  const long = words.includes('--long');
  const filters = words.filter((word) => word !== '--long');
  const files = chooseFiles(filters, long);
  if (files.length === 0) {
    console.error(
      `no test file under test/ has ${filters.map((filter) => `"${filter}"`).join(' or ')} in its path`,
    );
    return 2;
  }
  const starting = startServer();
  starting.catch(() => {}); // reported below, once the checks have had their say
  const checks = await Promise.all(long ? [] : STATIC_CHECKS.map(check));
  if (!checks.every(Boolean)) {
    console.error('The static checks failed; the tests were not run.');
    await starting.then(
      (server) => server.stop(),
      () => {},
    );
    return 1;
  }
  const server = await starting;
  try {
    return await runTests(files, server.url);
  } finally {
    await server.stop();
  }
}

const start_ms = performance.now();
process.exitCode = await main(process.argv.slice(2));
console.log(`# total ${seconds(start_ms)}${process.exitCode === 0 ? '' : ', failed'}`);
