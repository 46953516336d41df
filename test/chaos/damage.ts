// node test/chaos/damage.ts --damages 1000 [--file -shm]
// Another program damages the three files of a store that one or two processes use: cuts them, overwrites them, fills them with zeros, puts a copy in
// their place. Then the processes are killed. No commit that was answered may be gone without the next answer saying so: the next one of the
// process itself, or the first of the process that opens the file after it.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { readLog } from './log-check.ts';

const LANES_MAX = 4;
const RUNNING_MS_MAX = 60;
/** How long a process may take for an answer after the damage; it may also have died of it. */
const ANSWER_MS_MAX = 250;
const OVERWRITTEN_BYTES_MAX = 20_000;
const AT_ONCE = 2;

/** A refusal that says so is no word about what is lost. */
const NOTHING_LOST = 'nothing that was answered is lost';

const BYTES_MAX = 20_000_000;
/** What these few commits use of a file. The rest of the -wal is only reserved, and the rest of the -shm empty. */
const USED_BYTES: Record<string, number> = { '-wal': 400_000, '-shm': 700 };

type Damage = (path: string, bytes: number) => string;

const upTo = (most: number) => Math.floor(Math.random() * (most + 1));

function overwrite(path: string, at: number, content: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, content, 0, content.length, at);
  closeSync(file);
}

const DAMAGES: readonly Damage[] = [
  (path, bytes) => {
    const length = upTo(bytes);
    truncateSync(path, length);
    return `cut to ${length}`;
  },
  (path, bytes) => {
    const at = upTo(bytes);
    const content = Buffer.from(Array.from({ length: 1 + upTo(OVERWRITTEN_BYTES_MAX) }, () => upTo(255)));
    overwrite(path, at, content);
    return `${content.length} bytes overwritten at ${at}`;
  },
  (path, bytes) => {
    const at = upTo(bytes);
    const content = Buffer.alloc(1 + upTo(OVERWRITTEN_BYTES_MAX));
    overwrite(path, at, content);
    return `${content.length} zeros at ${at}`;
  },
  (path) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    return 'replaced by a copy';
  },
];

interface Round {
  readonly what: string;
  readonly answered: number;
  readonly lost: number;
  /** By the process that was damaged, by the next one, or by neither. */
  readonly said: 'at once' | 'at the next opening' | 'never';
}

export interface DamageResult {
  readonly faults: readonly string[];
  readonly summary: string;
  readonly lossy: number;
}

const FILES = ['-wal', '', '-shm'];

/** `end`: damages the file of this end only. */
export async function damageFiles(damages: number, end?: string): Promise<DamageResult> {
  const started_ms = performance.now();
  using folder = temporaryFolder();
  const template = join(folder.path, 'template.db');
  await fill(template);
  const rounds: Round[] = [];
  let next = 0;
  const oneAfterTheOther = async () => {
    while (next < damages) {
      next += 1;
      const place = join(folder.path, String(next));
      mkdirSync(place);
      copyFileSync(template, join(place, 'cox.db'));
      rounds.push(await damageOne(place, next, end ?? FILES[next % FILES.length]));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther));
  const lossy = rounds.filter(({ lost }) => lost > 0);
  const faults = lossy
    .filter(({ said }) => said === 'never')
    .map(({ what, lost, answered }) => `${lost} of ${answered} answered commits lost in silence: ${what}`);
  const answered = rounds.reduce((sum, round) => sum + round.answered, 0);
  const said = (when: Round['said']) => lossy.filter((round) => round.said === when).length;
  const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
  const summary = `damage: ${damages} times, ${answered} commits answered; some lost in ${lossy.length}, told at once in ${said('at once')}, at the next opening in ${said('at the next opening')}, never in ${faults.length} (${seconds} s)`;
  return { faults, summary, lossy: lossy.length };
}

/** So that the main file has pages of its own. */
async function fill(path: string): Promise<void> {
  const journal = `${path}.journal`;
  const options = { store: `sqlite:${path}`, journal, lanes: 1, sits: true };
  const worker = startProgram('damage-worker.ts', options);
  while (linesOf(journal).length < 100) await systemClock.sleep(5);
  worker.child.kill('SIGKILL');
  await worker.exited;
  await (await open({ store: `sqlite:${path}` })).close();
}

async function damageOne(place: string, number: number, end = ''): Promise<Round> {
  const path = join(place, 'cox.db');
  const journal = join(place, 'journal');
  const workers = [true, false].slice(0, 1 + upTo(1)).map((sits) => {
    const lanes = 1 + upTo(LANES_MAX - 1);
    return startProgram('damage-worker.ts', { store: `sqlite:${path}`, journal, lanes, sits });
  });
  while (linesOf(journal).length < 1 + (number % 40)) await systemClock.sleep(1);
  await systemClock.sleep(upTo(RUNNING_MS_MAX));
  const file = `${path}${end}`;
  const bytes = Math.min(statSync(file).size, number % 2 === 0 ? (USED_BYTES[end] ?? BYTES_MAX) : BYTES_MAX);
  const did = DAMAGES[Math.floor(number / 3) % DAMAGES.length]?.(file, bytes);
  const before = linesOf(journal).length;
  const until_ms = performance.now() + ANSWER_MS_MAX;
  let isOver = false;
  const exits = Promise.all(workers.map(({ exited }) => exited));
  void exits.then(() => {
    isOver = true;
  });
  while (linesOf(journal).length === before && performance.now() < until_ms && !isOver)
    await systemClock.sleep(1);
  await systemClock.sleep(upTo(5));
  for (const { child } of workers) child.kill('SIGKILL');
  await exits;
  const lines = linesOf(journal);
  const answered = lines.filter((line) => !line.startsWith('!'));
  const isSaid = lines.some((line) => line.startsWith('!') && !line.includes(NOTHING_LOST));
  const there = await pathsIn(path);
  const lost = there === undefined ? answered.length : answered.filter((name) => !there.has(name)).length;
  const said = isSaid ? 'at once' : there === undefined ? 'at the next opening' : 'never';
  return {
    what: `${file.slice(place.length + 1)} ${did}`,
    answered: answered.length,
    lost,
    said,
  };
}

function linesOf(journal: string): string[] {
  return existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : [];
}

/** Undefined: opening or reading it says that something is wrong. */
async function pathsIn(path: string): Promise<Set<string> | undefined> {
  try {
    const coxswain = await open({ store: `sqlite:${path}` });
    const entries = await readLog(coxswain.store);
    await coxswain.close();
    return new Set(entries.flatMap(({ events }) => events.map(({ id }) => id)));
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { damages, file } = readOptions({ damages: 1000, file: 'all' });
  const { summary, faults } = await damageFiles(damages, file === 'all' ? undefined : file);
  console.log(summary);
  for (const fault of faults) console.log(`  ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
