import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from '../../src/index.ts';
import { atMost, type Bench, type Row } from '../bench.ts';
import { alternate, type GrowthRound, growth, tail } from '../harness.ts';

const WAITERS = 50;
/** A minute, unless the rounds are made shorter than usual. */
const waitSeconds = (bench: Bench): number => Math.min(60, bench.rounds * bench.seconds * 10);

/** Fifty agents of one process wait for one lock that is never released: what that costs the processor. */
async function waiting(bench: Bench): Promise<Row> {
  const dir = await bench.cleanup.tempDir('wait');
  const store = `sqlite:${join(dir, 'wait.db')}`;
  const agents = await Promise.all(
    Array.from({ length: WAITERS + 1 }, (_, n) => connect({ store, agent_id: `agent-${n}` })),
  );
  const seconds = waitSeconds(bench);
  bench.progress.say(`WAIT: ${WAITERS} waiters, ${seconds} s`);
  const [holder, ...others] = agents;
  await holder?.call('acquire_lock', { file_path: 'src/wanted.ts' });
  const wait_seconds = seconds + 2;
  const waits = others.map((agent) =>
    agent.call('acquire_lock', { file_path: 'src/wanted.ts', wait_seconds }),
  );
  // Until all stand in line and their code is there.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const before = process.cpuUsage();
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1000 / (performance.now() - started);
  await Promise.all(waits);
  for (const agent of agents) await agent.close();
  return {
    goal: 'WAIT',
    what: `${WAITERS} agents wait for a lock, ${seconds} s`,
    unit: '% of a core',
    ours: share * 100,
    peer: undefined,
    peer_name: 'nothing',
    ratio: undefined,
    bound: undefined,
    note: '',
  };
}

async function openFolder(bench: Bench, name: string, files: number) {
  const dir = await bench.cleanup.tempDir('folder');
  const folder = join(dir, 'src');
  mkdirSync(folder);
  for (let n = 0; n < files; n++) writeFileSync(join(folder, `file-${n}.ts`), '');
  const agent = await connect({ store: `sqlite:${join(dir, 'cox.db')}`, agent_id: name, cwd: dir });
  return {
    async pair(): Promise<number> {
      const start = performance.now();
      const locked = await agent.call('acquire_lock', { file_path: 'src/' });
      const released = await agent.call('release_lock', { file_path: 'src/' });
      if (locked.success !== true || released.success !== true) throw new Error(JSON.stringify(locked));
      return performance.now() - start;
    },
    close: () => agent.close(),
  };
}

/** A lock on a folder is one lock, however much is in it. */
async function folders(bench: Bench): Promise<Row> {
  const small = await openFolder(bench, 'small', 10);
  const large = await openFolder(bench, 'large', 10_000);
  const rounds: GrowthRound[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`WAIT folder: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const measured = await alternate(Math.round(bench.seconds * 100), small.pair, large.pair);
    if (round > 0) rounds.push(measured);
  }
  await small.close();
  await large.close();
  const grown = growth(rounds);
  return {
    goal: 'WAIT',
    what: 'lock and release of a folder with 10,000 files ÷ with 10',
    unit: 'ms (p50)',
    ours: grown.large.median,
    peer: grown.small.median,
    peer_name: 'ours, small',
    ratio: grown.ratio,
    bound: atMost(1.5, 1.2),
    note: `p99 ${tail(rounds, 'large_ms').toFixed(2)} ms large, ${tail(rounds, 'small_ms').toFixed(2)} ms small`,
  };
}

export async function wait(bench: Bench): Promise<Row[]> {
  return [await waiting(bench), await folders(bench)];
}
