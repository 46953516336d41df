import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Readable, Writable } from 'node:stream';
import { mountList } from '../../src/child-process/mount-list.ts';
import { HELPER_STDIO, ReadOnlyView, withReadOnlyView } from '../../src/child-process/read-only-view.ts';
import { atMost, type Bench, type Row } from '../bench.ts';
import { median, spread } from '../statistics.ts';

const STARTS_A_ROUND = 40;
const KERNEL_TESTS = new URL('../../test/kernel/', import.meta.url).pathname;

/** Milliseconds until the command has ended. */
function timed(words: readonly string[], isGuarded: boolean): Promise<number> {
  const [program = '', ...args] = words;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const besides = isGuarded ? HELPER_STDIO : [];
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', ...besides] });
    const [, , , input, output] = child.stdio;
    const view = isGuarded
      ? new ReadOnlyView(child.pid ?? 0, input as Writable, output as Readable)
      : undefined;
    child.once('error', reject);
    child.once('exit', (code) => {
      const took_ms = performance.now() - started;
      view?.close();
      for (const handle of child.stdio.slice(3)) handle?.destroy();
      if (code === 0) resolve(took_ms);
      else reject(new Error(`${program} ended with ${code}`));
    });
  });
}

/** The command as `cox run` starts it when these files are held. */
function inside(command: readonly string[], folder: string, held: readonly string[]): string[] {
  const list = join(folder, 'mounts');
  const confinement = process.getuid?.() === 0 ? 'root' : 'user';
  const { text, mounts } = mountList(held, confinement === 'root');
  writeFileSync(list, text);
  const view = { confinement, list, mounts, cwd: process.cwd(), env: process.env } as const;
  return withReadOnlyView(command, view);
}

/** The median of some starts, of both in turns: what being guarded adds, in milliseconds. */
async function added(bench: Bench, what: string, held: number): Promise<Row> {
  const folder = await bench.cleanup.tempDir('guarded');
  const files = Array.from({ length: held }, (_, index) => join(folder, `file-${index}.ts`));
  for (const file of files) writeFileSync(file, '');
  const words = inside(['true'], folder, files);
  const [ours, bare, more]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < bench.rounds; round += 1) {
    bench.progress.say(`GUARDED ${what}: round ${round + 1}/${bench.rounds}`);
    const [guarded, plain]: [number[], number[]] = [[], []];
    for (let start = 0; start < STARTS_A_ROUND; start += 1) {
      guarded.push(await timed(words, true));
      plain.push(await timed(['true'], false));
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
  const tests = readdirSync(KERNEL_TESTS)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(KERNEL_TESTS, name));
  const command = [process.execPath, '--test', '--test-concurrency=1', ...tests];
  const words = inside(command, folder, [file]);
  const [ours, peer, ratios]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < bench.rounds * 2; round += 1) {
    bench.progress.say(`GUARDED a project's tests: round ${round + 1}/${bench.rounds * 2}`);
    const guarded = await timed(words, true);
    const outside = await timed(command, false);
    ours.push(guarded);
    peer.push(outside);
    ratios.push(guarded / outside);
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
