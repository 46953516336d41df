import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { HELPER_STDIO, mountLine, withReadOnlyView } from '../../src/child-process/read-only-view.ts';
import { atMost, type Bench, type Row } from '../bench.ts';
import { median, spread } from '../statistics.ts';

const STARTS_A_ROUND = 40;
const KERNEL_TESTS = new URL('../../test/kernel/', import.meta.url).pathname;

/** Milliseconds until the command has ended. */
function timed(words: readonly string[], besides: readonly 'pipe'[]): Promise<number> {
  const [program = '', ...args] = words;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', ...besides] });
    child.once('error', reject);
    child.once('exit', (code) => {
      for (const handle of child.stdio.slice(3)) handle?.destroy();
      if (code === 0) resolve(performance.now() - started);
      else reject(new Error(`${program} ended with ${code}`));
    });
  });
}

/** The median of some starts, of both in turns: what being guarded adds, in milliseconds. */
async function added(bench: Bench, what: string, held: number): Promise<Row> {
  const folder = await bench.cleanup.tempDir('guarded');
  const files = Array.from({ length: held }, (_, index) => join(folder, `file-${index}.ts`));
  for (const file of files) writeFileSync(file, '');
  const list = join(folder, 'mounts');
  writeFileSync(list, files.map(mountLine).join(''));
  const inside = withReadOnlyView(['true'], list, held);
  const [ours, bare, more]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < bench.rounds; round += 1) {
    bench.progress.say(`GUARDED ${what}: round ${round + 1}/${bench.rounds}`);
    const [guarded, plain]: [number[], number[]] = [[], []];
    for (let start = 0; start < STARTS_A_ROUND; start += 1) {
      guarded.push(await timed(inside, HELPER_STDIO));
      plain.push(await timed(['true'], []));
    }
    ours.push(median(guarded));
    bare.push(median(plain));
    more.push(median(guarded) - median(plain));
  }
  return {
    goal: 'GUARDED',
    what: `${what}: ms more than bare`,
    unit: 'ms (p50)',
    ours: median(ours),
    peer: median(bare),
    peer_name: 'a bare `true`',
    ratio: spread(more),
    bound: held > 1 ? atMost(15, 8) : atMost(6, 3),
    note: '',
  };
}

/** Tests of a project, inside and outside. */
async function aProject(bench: Bench): Promise<Row> {
  const folder = await bench.cleanup.tempDir('guarded');
  const file = join(folder, 'held.ts');
  writeFileSync(file, '');
  const list = join(folder, 'mounts');
  writeFileSync(list, mountLine(file));
  const tests = readdirSync(KERNEL_TESTS)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(KERNEL_TESTS, name));
  const command = [process.execPath, '--test', '--test-concurrency=1', ...tests];
  const [ours, peer, ratios]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < bench.rounds * 2; round += 1) {
    bench.progress.say(`GUARDED a project's tests: round ${round + 1}/${bench.rounds * 2}`);
    const inside = await timed(withReadOnlyView(command, list, 1), HELPER_STDIO);
    const outside = await timed(command, []);
    ours.push(inside);
    peer.push(outside);
    ratios.push(inside / outside);
  }
  return {
    goal: 'GUARDED',
    what: 'tests of a project',
    unit: 'ms',
    ours: median(ours),
    peer: median(peer),
    peer_name: 'outside',
    ratio: spread(ratios),
    bound: atMost(1.03, 1.01),
    note: '',
  };
}

/** What it costs to run a command while the kernel keeps held files read-only for it. */
export async function guarded(bench: Bench): Promise<Row[]> {
  return [
    await added(bench, 'a guarded `true`', 1),
    await added(bench, 'the same with 500 held files', 500),
    await aProject(bench),
  ];
}
