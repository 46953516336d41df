import { join } from 'node:path';
import { openRawSqlite } from '../baselines/raw-sqlite.ts';
import { atLeast, type Bench, play, type Row } from '../bench.ts';
import { type Contender, hammer, share } from '../harness.ts';
import { HttpConnection } from '../http-load.ts';
import { COX, EMPTY_HTTP, startServer } from '../processes.ts';

const CONNECTIONS = 32;

function openConnections(url: URL): HttpConnection[] {
  return Array.from({ length: CONNECTIONS }, () => new HttpConnection(url));
}

/** A fresh lock per request, with authentication, validation, event, audit row and fsync. */
async function openOurs(bench: Bench, dir: string): Promise<Contender> {
  const store = `sqlite:${join(dir, 'ours.db')}`;
  const server = await startServer(bench, [COX, 'serve', '--json', '--port', '0', '--store', store], dir);
  const connections = openConnections(server.url);
  const bodyOf = (n: number) => `{"file_path":"src/part-${n % 100}/file-${n}.ts"}`;
  const post = async (caller: number, path: string, n: number) => {
    const answer = await connections[caller]?.post(path, `agent-${caller}`, bodyOf(n));
    if (!answer?.startsWith('{"success":true')) throw new Error(answer);
  };
  let next = 0;
  return {
    name: 'ours',
    async measure(durationMs) {
      const taken: [number, number][] = [];
      const sample = await hammer(CONNECTIONS, durationMs, async (caller) => {
        const n = next++;
        await post(caller, '/locks/acquire', n);
        taken.push([caller, n]);
        return 1;
      });
      // Not timed: the next round starts without locks, as the first did.
      for (let caller = 0; caller < CONNECTIONS; caller++) {
        const own = taken.filter(([taker]) => taker === caller);
        await share(
          own.length,
          1,
          1,
          async (_, at) => await post(caller, '/locks/release', own[at]?.[1] ?? 0),
        );
      }
      return sample;
    },
    async close() {
      for (const connection of connections) connection.close();
      await server.stop();
    },
  };
}

async function openEmpty(bench: Bench, dir: string): Promise<Contender> {
  const server = await startServer(bench, [EMPTY_HTTP], dir);
  const connections = openConnections(server.url);
  return {
    name: 'empty node:http POST',
    measure: (durationMs) =>
      hammer(CONNECTIONS, durationMs, async (caller) => {
        await connections[caller]?.post('/locks/acquire', `agent-${caller}`, '{"file_path":"src/a.ts"}');
        return 1;
      }),
    async close() {
      for (const connection of connections) connection.close();
      await server.stop();
    },
  };
}

/** HTTP: durable locks through the whole door, beside a server that does nothing and beside bare commits. */
export async function p9(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('p9');
  return play(bench, {
    goal: 'P9',
    what: `HTTP acquire_lock, ${CONNECTIONS} connections`,
    unit: 'acquires/s',
    ours: () => openOurs(bench, dir),
    peers: [
      { open: () => openEmpty(bench, dir), bound: atLeast(0.25, 0.4) },
      { open: async () => openRawSqlite(dir), bound: atLeast(1.5, 2.5) },
    ],
  });
}
