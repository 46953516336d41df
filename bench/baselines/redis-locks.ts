import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { type Contender, hammer, rateOf } from '../harness.ts';

const TTL_MS = 60_000;
const PATHS_PER_CALLER = 1000;
const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

interface LockClient extends Redis {
  releaseLock(key: string, token: string): Promise<number>;
}

interface Way {
  name: string;
  clients: LockClient[];
}

export async function connectLocks(path: string, enableAutoPipelining: boolean): Promise<LockClient> {
  const client = new Redis({ path, lazyConnect: true, enableAutoPipelining });
  client.defineCommand('releaseLock', { numberOfKeys: 1, lua: RELEASE });
  await client.connect();
  return client as LockClient;
}

function pairs(way: Way, callers: number, durationMs: number, counters: number[]) {
  return hammer(callers, durationMs, async (caller) => {
    const client = way.clients[caller % way.clients.length];
    if (client === undefined) throw new Error('no connection');
    const turn = (counters[caller] ?? 0) + 1;
    counters[caller] = turn;
    const path = `src/caller-${caller}/file-${turn % PATHS_PER_CALLER}.ts`;
    await releaseLock(client, path, await acquireLock(client, path));
    return 1;
  });
}

/** Answers the token by which it is released. */
export async function acquireLock(client: LockClient, path: string): Promise<string> {
  const token = randomUUID();
  if ((await client.set(`lock:${path}`, token, 'PX', TTL_MS, 'NX')) !== 'OK')
    throw new Error(`${path} was taken`);
  return token;
}

export async function releaseLock(client: LockClient, path: string, token: string): Promise<void> {
  if ((await client.releaseLock(`lock:${path}`, token)) !== 1) throw new Error(`${path} was not ours`);
}

/**
 * The usual Redis lock: SET NX PX, released by compare-and-delete in Lua, fsync always. Which way of calling is
 * fastest differs between machines, so the first measurement tries all three and keeps the peer's best.
 */
export async function openRedisLocks(path: string, callers: number): Promise<Contender> {
  const own = await Promise.all(Array.from({ length: callers }, () => connectLocks(path, false)));
  const ways: Way[] = [
    { name: 'a connection each', clients: own },
    { name: 'one connection', clients: [await connectLocks(path, false)] },
    { name: 'one connection, automatic pipelining', clients: [await connectLocks(path, true)] },
  ];
  const counters: number[] = [];
  let best: Way | undefined;
  const contender: Contender = {
    name: 'Redis SET NX PX + Lua release, fsync always',
    async measure(durationMs) {
      if (best === undefined) {
        let bestRate = 0;
        for (const way of ways) {
          await pairs(way, callers, durationMs / 6, counters);
          const rate = rateOf(await pairs(way, callers, durationMs / 3, counters));
          if (rate > bestRate) [best, bestRate] = [way, rate];
        }
        contender.name += `, ${best?.name}`;
      }
      return pairs(best as Way, callers, durationMs, counters);
    },
    async close() {
      for (const client of ways.flatMap((way) => way.clients)) client.disconnect();
    },
  };
  return contender;
}
