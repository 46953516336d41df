import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { atMost, type Bench, type Row } from '../bench.ts';
import { type GrowthRound, growth, tail } from '../harness.ts';
import { HttpConnection } from '../http-load.ts';
import { COX, startServer } from '../processes.ts';
import { openListeners } from '../sse-listeners.ts';

const RATE_PER_SECOND = 1000;
const LISTENERS = 200;
const CONNECTIONS = 16;

/** Operations at a fixed rate; how long each took, from when it was due. */
async function pace(connections: HttpConnection[], seconds: number, next: () => number): Promise<number[]> {
  const took: number[] = [];
  const start = performance.now();
  const count = Math.round(seconds * RATE_PER_SECOND);
  let issued = 0;
  const loop = async (caller: number): Promise<void> => {
    while (issued < count) {
      const due = start + (issued++ * 1000) / RATE_PER_SECOND;
      while (performance.now() < due)
        await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      const began = performance.now();
      const body = `{"file_path":"src/file-${next()}.ts","ttl_minutes":1}`;
      await connections[caller]?.post('/locks/acquire', `agent-${caller}`, body);
      took.push(performance.now() - began);
    }
  };
  await Promise.all(connections.map((_, caller) => loop(caller)));
  return took;
}

/** Live events: what 200 listeners cost the operations that they hear of. Lower is better. */
export async function events(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('events');
  const store = `sqlite:${join(dir, 'ours.db')}`;
  const server = await startServer(bench, [COX, 'serve', '--json', '--port', '0', '--store', store], dir);
  const connections = Array.from({ length: CONNECTIONS }, () => new HttpConnection(server.url));
  let n = 0;
  const next = () => n++;
  const rounds: GrowthRound[] = [];
  let heard = 0;
  let told = 0;
  await pace(connections, bench.seconds, next);
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress.say(`EVENTS: round ${round}/${bench.rounds}`);
    const small_ms = await pace(connections, bench.seconds, next);
    const listeners = await openListeners(bench, server.url, LISTENERS);
    const large_ms = await pace(connections, bench.seconds, next);
    heard += await listeners.close(large_ms.length);
    told += large_ms.length * LISTENERS;
    rounds.push({ small_ms, large_ms });
  }
  for (const connection of connections) connection.close();
  await server.stop();
  const { ratio, small, large } = growth(rounds);
  return [
    {
      goal: 'EVENTS',
      what: `${RATE_PER_SECOND} operations/s with ${LISTENERS} listeners to their events`,
      ours: large.median,
      peer: small.median,
      peer_name: 'ours, nobody listens',
      unit: 'ms (p50)',
      ratio,
      bound: atMost(1.1, 1.05),
      note: `p99 ${tail(rounds, 'large_ms').toFixed(1)} ms, ${tail(rounds, 'small_ms').toFixed(1)} ms without; ${((100 * heard) / told).toFixed(1)} % heard`,
    },
  ];
}
