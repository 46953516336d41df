import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parse } from 'yaml';
import { coordinate, type PassResult } from '../../src/features/workdir/folder/pass.ts';
import { DEFAULT_WORKDIR } from '../../src/features/workdir/workdir-settings.ts';
import { syncFolder, writeLasting } from '../../src/storage/lasting.ts';
import { atMost, type Bench, type Bound, type Row } from '../bench.ts';
import { median, spread } from '../statistics.ts';

const TASKS = 1000;
const MANY = 10_000;
const AGENTS = ['architect', 'coder', 'curator', 'tester', 'writer'];
/** A pass may take so many times the reading and parsing of what it moves, besides one lasting rename for each. */
const READS_PER_MOVE = 3;
const NOW_MS = Date.UTC(2026, 2, 10, 12);
/** Every one of them waits a thousand times for the disk. */
const DISK_ROUNDS_MAX = 3;

function taskText(n: number, agent: string, status: string): string {
  return `# task ${n}
id: task-${n}
agent: ${agent}
status: ${status}
title: "Change number ${n}: a little of everything"
priority: ${n % 7 === 0 ? 'high' : 'normal'}
artefacts:
  - src/module-${n % 97}/file-${n}.ts
  - docs/changes/${n}.md
context:
  repo: shop
  branch: main
  notes:
    - Look at the one before first.
    - "Keep it short: no more than a page."
created_at: 2026-03-10T09:30:00Z
created_by: planner
${status === 'new' ? '' : 'assigned_at: 2026-03-10T11:00:00Z\n'}`;
}

const agentOf = (n: number) => AGENTS[n % AGENTS.length] ?? '';

/** All in the inbox, or all with their agents, some of them at work. */
function fill(root: string, count: number, isNew: boolean): void {
  rmSync(root, { recursive: true, force: true });
  for (const folder of ['inbox', 'done', ...AGENTS.map((agent) => `assigned/${agent}`)])
    mkdirSync(join(root, folder), { recursive: true });
  for (let n = 0; n < count; n += 1) {
    const agent = agentOf(n);
    const status = isNew ? 'new' : n % 3 === 0 ? 'in_progress' : 'assigned';
    const path = isNew ? `inbox/task-${n}.yaml` : `assigned/${agent}/task-${n}.yaml`;
    writeFileSync(join(root, path), taskText(n, agent, status));
  }
}

function readAll(root: string): number {
  let count = 0;
  const start = performance.now();
  for (const name of readdirSync(root, { recursive: true }) as string[])
    if (name.endsWith('.yaml') && parse(readFileSync(join(root, name), 'utf8')) !== null) count += 1;
  const took_ms = performance.now() - start;
  if (count < TASKS) throw new Error(`only ${count} files`);
  return took_ms;
}

async function pass(root: string): Promise<{ took_ms: number; result: PassResult }> {
  const start = performance.now();
  const result = await coordinate({ root, now_ms: NOW_MS, settings: DEFAULT_WORKDIR });
  const took_ms = performance.now() - start;
  if (result.problems.length + result.left.length > 0) throw new Error('it did not go well');
  return { took_ms, result };
}

async function idle(root: string): Promise<number> {
  const { took_ms, result } = await pass(root);
  if (result.done.length + result.reports.length > 0) throw new Error('there was something to do');
  return took_ms;
}

/** What it takes to put one file in the place of another so that it survives a power cut, for each of them. */
async function renameAll(folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const text = Buffer.from(taskText(1, 'coder', 'new'));
  const start = performance.now();
  for (let n = 0; n < TASKS; n += 1) {
    const file = join(folder, `task-${n}.yaml`);
    await writeLasting(`${file}.aside`, text, 0o644);
    await rename(`${file}.aside`, file);
    await syncFolder(folder);
  }
  return performance.now() - start;
}

interface Turn {
  readonly ours: number;
  readonly peer: number;
}

function row(
  what: string,
  peer_name: string,
  turns: readonly Turn[],
  bound: Bound | undefined,
  note = '',
): Row {
  return {
    goal: 'WORKDIR',
    what,
    ours: median(turns.map(({ ours }) => ours)),
    peer: median(turns.map(({ peer }) => peer)),
    peer_name,
    unit: 'ms',
    ratio: spread(turns.map(({ ours, peer }) => ours / peer)),
    bound,
    note,
  };
}

async function turns(count: number, play: (n: number) => Promise<Turn>): Promise<Turn[]> {
  await play(0);
  const played: Turn[] = [];
  for (let n = 1; n <= count; n += 1) played.push(await play(n));
  return played;
}

/** Passes over work directories beside what reading the files costs any program. */
export async function workdir(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('workdir');
  const [small, large, moving] = ['small', 'large', 'moving'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  fill(small, TASKS, false);
  fill(large, MANY, false);
  for (const root of [small, large]) await pass(root);
  const say = (what: string) => bench.progress.say(`WORKDIR ${what}`);
  say('a pass that moves nothing');
  const still = await turns(bench.rounds, async () => ({ ours: await idle(small), peer: readAll(small) }));
  say(`${MANY} tasks beside ${TASKS}`);
  const growing = await turns(bench.rounds, async () => {
    let peer = 0;
    for (let n = 0; n < MANY / TASKS; n += 1) peer += await idle(small);
    return { ours: await idle(large), peer };
  });
  const moved = await turns(Math.min(DISK_ROUNDS_MAX, bench.rounds), async (n) => {
    say(`a pass that moves all, round ${n}`);
    fill(moving, TASKS, true);
    const read_ms = readAll(moving);
    const { took_ms, result } = await pass(moving);
    if (result.done.length !== 2 * TASKS) throw new Error(`it did ${result.done.length} things`);
    return { ours: took_ms, peer: READS_PER_MOVE * read_ms + (await renameAll(join(dir, `renamed-${n}`))) };
  });
  const perSecond = (1000 / median(still.map(({ ours }) => ours))).toFixed(1);
  return [
    row(
      `a pass over ${TASKS} tasks that moves nothing`,
      'read and parsed with yaml',
      still,
      atMost(1.3, 1),
      `${perSecond} passes per second`,
    ),
    row(
      `a pass over ${TASKS} tasks that assigns all of them, durable`,
      `${READS_PER_MOVE} times read and parsed, and a lasting rename each`,
      moved,
      atMost(1, 0.8),
    ),
    row(
      `a pass over ${MANY} tasks that moves nothing`,
      `ours, ${MANY / TASKS} passes over ${TASKS}`,
      growing,
      atMost(1.3, 1.1),
    ),
  ];
}
