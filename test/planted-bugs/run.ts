// node test/planted-bugs/run.ts [part of a name …] [--part 1/3]
// Plants bugs in a copy of the project, one after the other, and shows which test bites. A bug that survives is a failure
// of the tests, and so of this run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDynamoDb } from '../support/dynamodb.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Plant, plants } from './plants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What stays the same from plant to plant is read and compiled once. */
const COMPILE_CACHE = join(root, 'node_modules', '.cache', 'coxswain-test');
const TEST_MS_MAX = 90_000;
/** Copies of the project that are tested side by side. */
const LANES = 2;
const COPIED = [
  'src',
  'test',
  'bin',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

class Copy {
  readonly path = mkdtempSync(join(tmpdir(), 'cox-teeth-'));
  readonly #postgresUrl: string;

  constructor(postgresUrl: string) {
    this.#postgresUrl = postgresUrl;
    for (const name of COPIED) cpSync(join(root, name), join(this.path, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The first test of the file that fails; undefined when all pass. */
  async firstFailure(file: string): Promise<string | undefined> {
    const args = ['--test', '--test-reporter=tap', `--test-timeout=${TEST_MS_MAX}`, file];
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const child = spawn(process.execPath, args, {
      cwd: this.path,
      env: {
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...environment,
        COX_TEST_POSTGRES_URL: this.#postgresUrl,
        COX_TEST_CHAOS_SECONDS: '2',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      // A group of its own, so that whatever the tests started ends with them.
      detached: true,
    });
    const ended = once(child, 'close');
    const end = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // It has ended already.
      }
    };
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end();
    }, TEST_MS_MAX);
    let failure: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      const name = /^\s*not ok \d+ - (.*)$/.exec(line)?.[1];
      if (name === undefined) continue;
      failure = name.replaceAll('\\', '');
      end();
      break;
    }
    const [code] = await ended;
    clearTimeout(timer);
    if (failure !== undefined) return failure;
    if (late) return `no end within ${TEST_MS_MAX / 1000} s`;
    return code === 0 ? undefined : `ended with ${code}`;
  }

  plant({ name, file, from, to }: Plant): () => void {
    const path = join(this.path, file);
    const before = readFileSync(path, 'utf8');
    if (before.split(from).length !== 2)
      throw new Error(
        `"${name}": its text stands ${before.split(from).length - 1} times in ${file}, not once`,
      );
    writeFileSync(
      path,
      before.replace(from, () => to),
    );
    return () => writeFileSync(path, before);
  }
}

async function bite(copy: Copy, plant: Plant): Promise<{ file: string; test: string } | undefined> {
  const remove = copy.plant(plant);
  try {
    for (const file of plant.tests) {
      const test = await copy.firstFailure(file);
      if (test !== undefined) return { file, test };
    }
    return undefined;
  } finally {
    remove();
  }
}

/** A test that fails anyway catches nothing. */
async function passesBefore(copy: Copy, file: string): Promise<boolean> {
  const failure = await copy.firstFailure(file);
  if (failure !== undefined) console.log(`✖ without any planted bug ${file} fails: ${failure}`);
  return failure === undefined;
}

/** Each copy takes the next one when it is done with its own. */
async function inLanes<T, R>(
  copies: readonly Copy[],
  items: readonly T[],
  work: (copy: Copy, item: T) => Promise<R>,
): Promise<R[]> {
  const left = [...items];
  const done: R[] = [];
  const lane = async (copy: Copy) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) done.push(await work(copy, item));
  };
  await Promise.all(copies.map(lane));
  return done;
}

/** `2/3`: the second, fifth, eighth … A run in CI takes a part, another one each day; all of them take ten minutes. */
function inPart(part: string | undefined): (plant: Plant, index: number) => boolean {
  if (part === undefined) return () => true;
  const [number = 0, count = 0] = part.split('/').map(Number);
  if (!(number >= 1 && number <= count)) throw new Error(`--part: expected 1/3, not ${part}`);
  return (_plant, index) => index % count === number - 1;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { part: { type: 'string' } },
    allowPositionals: true,
  });
  const chosen = plants
    .filter(({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)))
    .filter(inPart(values.part));
  const server = await startPostgres({ fsync: false });
  const tables = chosen.some(({ tests }) => tests.some((file) => file.includes('dynamodb')))
    ? await startDynamoDb()
    : undefined;
  // Each test would start its own otherwise.
  if (tables !== undefined) process.env.COX_TEST_DYNAMODB_ENDPOINT = tables.endpoint;
  const copies = Array.from({ length: LANES }, () => new Copy(server.url));
  const start_ms = performance.now();
  let survivors = 0;
  try {
    const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
    const passing = await inLanes(copies, files, async (copy, file) => ({
      file,
      passes: await passesBefore(copy, file),
    }));
    // Once more, with the machine to itself: two lanes keep it busy.
    for (const { file, passes } of passing)
      if (!passes && !(await passesBefore(copies[0] as Copy, file))) return 1;
    await inLanes(copies, chosen, async (copy, plant) => {
      const caught = await bite(copy, plant);
      if (caught === undefined) survivors += 1;
      const by = caught === undefined ? 'SURVIVED' : `${caught.file}: ${caught.test}`;
      console.log(`${caught === undefined ? '✖' : '✔'} ${plant.name.padEnd(58)} ${by}`);
    });
  } finally {
    for (const copy of copies) copy.remove();
    await server.stop();
    await tables?.stop();
  }
  const seconds = Math.round((performance.now() - start_ms) / 1000);
  console.log(
    `planted ${chosen.length}, caught ${chosen.length - survivors}, survived ${survivors}, ${seconds} s`,
  );
  return survivors === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
