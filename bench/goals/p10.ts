import { execFileSync, spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { atMost, type Bench, type Row } from '../bench.ts';
import { alternate, type GrowthRound, growth, tail } from '../harness.ts';
import { EMPTY, environment, installedCox } from '../processes.ts';

const STARTS = 15;

/** From the start of the process to its end, in a repository of its own. */
function timed(cwd: string, args: readonly string[]): number {
  const env = environment({ HOME: cwd, AGENT_ID: 'ann', SESSION_ID: 'ann' });
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  const took_ms = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return took_ms;
}

/** What a short command takes, beside starting Node at all. Lower is better. */
export async function p10(bench: Bench): Promise<Row[]> {
  const cox = await installedCox(bench);
  const dir = await bench.cleanup.tempDir('p10');
  execFileSync('git', ['init', '--quiet', dir]);
  let file = 0;
  const ours: [string, () => readonly string[], Row['bound']][] = [
    ['cox --version', () => ['--version'], atMost(1.6, 1.3)],
    ['cox lock acquire', () => ['lock', 'acquire', `src/file-${file++}.ts`], atMost(3, 2)],
    ['cox lock check', () => ['lock', 'check', 'src/file-0.ts'], atMost(3, 2)],
    ['cox status', () => ['status'], atMost(3, 2)],
    ['cox --help', () => ['--help'], undefined],
  ];
  const rows: Row[] = [];
  for (const [what, words, bound] of ours) {
    const rounds: GrowthRound[] = [];
    for (let round = 0; round <= bench.rounds; round++) {
      bench.progress.say(`P10 ${what}: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
      const measured = await alternate(
        round === 0 ? 3 : STARTS,
        async () => timed(dir, [EMPTY]),
        async () => timed(dir, [cox, ...words()]),
      );
      if (round > 0) rounds.push(measured);
    }
    const { ratio, small, large } = growth(rounds);
    const note = `p99 ${tail(rounds, 'large_ms').toFixed(1)} ms, bare ${tail(rounds, 'small_ms').toFixed(1)} ms`;
    const common = { goal: 'P10', what, peer_name: 'a bare node start', unit: 'ms (p50)', bound, note };
    rows.push({ ...common, ours: large.median, peer: small.median, ratio });
  }
  return rows;
}
