import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openRawSqlite } from '../baselines/raw-sqlite.ts';
import { atMost, type Bench, type Row } from '../bench.ts';
import { alternate, type GrowthRound, growth, tail } from '../harness.ts';
import { buildCox, COX, McpProcess, NOOP_MCP } from '../processes.ts';

function rowOf(what: string, peer_name: string, rounds: readonly GrowthRound[], bound: Row['bound']): Row {
  const { ratio, small, large } = growth(rounds);
  const p99 = (side: keyof GrowthRound): string => tail(rounds, side).toFixed(2);
  const note = `p99 ${p99('large_ms')} ms ours, ${p99('small_ms')} ms beside`;
  return {
    goal: 'P5',
    what,
    ours: large.median,
    peer: small.median,
    peer_name,
    unit: 'ms (p50)',
    ratio,
    bound,
    note,
  };
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** A tool call that takes a lock, beside one that does nothing and then the barest durable commit. */
async function calls(bench: Bench): Promise<Row> {
  const dir = await bench.cleanup.tempDir('p5');
  const ours = new McpProcess(bench, [COX, 'mcp', '--store', `sqlite:${join(dir, 'ours.db')}`], dir);
  const noop = new McpProcess(bench, [NOOP_MCP], dir);
  const raw = openRawSqlite(dir);
  for (const each of [ours, noop]) await each.initialise();
  let next = 0;
  const lock = () => timed(() => ours.call('acquire_lock', { file_path: `src/file-${next++}.ts` }));
  const bare = () =>
    timed(async () => {
      await noop.call('noop', { file_path: 'src/file.ts' });
      raw.commit();
    });
  const rounds: GrowthRound[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`P5 tool call: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const measured = await alternate(Math.round(bench.seconds * 500), bare, lock);
    if (round > 0) rounds.push(measured);
  }
  await ours.stop();
  await noop.stop();
  await raw.close();
  return rowOf('acquire_lock over MCP stdio', 'no-op tool call + bare commit', rounds, atMost(1.5, 1.3));
}

async function firstAnswer(bench: Bench, args: readonly string[], dir: string): Promise<number> {
  const start = performance.now();
  const server = new McpProcess(bench, args, dir);
  await server.initialise();
  const took = performance.now() - start;
  await server.stop();
  return took;
}

/** From starting the process to its first answer, on a store that exists. */
async function starts(bench: Bench): Promise<Row> {
  const dir = await bench.cleanup.tempDir('p5');
  const ours = [COX, 'mcp', '--store', `sqlite:${join(dir, 'ours.db')}`];
  const rounds: GrowthRound[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`P5 start: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const measured = await alternate(
      round === 0 ? 2 : 6,
      () => firstAnswer(bench, [NOOP_MCP], dir),
      () => firstAnswer(bench, ours, dir),
    );
    if (round > 0) rounds.push(measured);
  }
  return rowOf('first answer of cox mcp', 'a no-op SDK server', rounds, atMost(1.5, 1.2));
}

/** MCP: what coordination adds to a tool call, and to the start of the server. Lower is better. */
export async function p5(bench: Bench): Promise<Row[]> {
  buildCox();
  return [await calls(bench), await starts(bench)];
}
