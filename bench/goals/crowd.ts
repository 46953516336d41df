import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { atMost, type Bench, type Row } from '../bench.ts';
import { EMPTY, environment, installedCox } from '../processes.ts';
import { median, spread } from '../statistics.ts';

const CROWD = 200;

/** All of them at once: when each of them had ended, in milliseconds. */
async function together(cwd: string, argsOf: (index: number) => readonly string[]): Promise<number[]> {
  const start = performance.now();
  const one = async (index: number) => {
    const env = environment({ HOME: cwd, AGENT_ID: `agent-${index}`, SESSION_ID: `agent-${index}` });
    const child = spawn(process.execPath, argsOf(index), { cwd, env, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${argsOf(index).join(' ')} ended with ${code}`);
    return performance.now() - start;
  };
  return (await Promise.all(Array.from({ length: CROWD }, (_, index) => one(index)))).sort((a, b) => a - b);
}

/** Short commands that are started all at once on a store that is not there yet. Lower is better. */
export async function crowd(bench: Bench): Promise<Row[]> {
  const cox = await installedCox(bench);
  const [ours, bare, middle]: [number[], number[], number[]] = [[], [], []];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress.say(`CROWD: round ${round}/${bench.rounds}`);
    const dir = await bench.cleanup.tempDir('crowd');
    const store = `sqlite:${join(dir, 'cox.db')}`;
    bare.push((await together(dir, () => [EMPTY])).at(-1) ?? Number.NaN);
    const took = await together(dir, (index) => [
      cox,
      'lock',
      'acquire',
      `src/${index}.ts`,
      '--store',
      store,
    ]);
    ours.push(took.at(-1) ?? Number.NaN);
    middle.push(median(took));
  }
  return [
    {
      goal: 'CROWD',
      what: `the last answer of ${CROWD} locks from the command line, all at once, on a new store`,
      ours: median(ours),
      peer: median(bare),
      peer_name: `${CROWD} bare node starts`,
      unit: 'ms',
      ratio: spread(ours.map((took, round) => took / (bare[round] ?? Number.NaN))),
      bound: atMost(5, 3),
      note: `the median of the answers after ${median(middle).toFixed(0)} ms`,
    },
  ];
}
