import { join } from 'node:path';
import { openBullmq } from '../baselines/bullmq.ts';
import { openProperLockfile } from '../baselines/proper-lockfile.ts';
import { openRedisLocks } from '../baselines/redis-locks.ts';
import { atLeast, type Bench, type Match, missing, play, type Row } from '../bench.ts';
import { openCrew } from '../crew.ts';
import { type Contender, cycles, hammer } from '../harness.ts';

const LOCK_CALLERS = 8;
const QUEUE_CALLERS = 16;
const PATHS_PER_CALLER = 1000;
const NO_REDIS = 'redis-server is not installed and could not be (Debian package redis-server)';

async function openOurPairs(dir: string): Promise<Contender> {
  const { openOurs } = await import('../ours.ts');
  const ours = await openOurs(`sqlite:${join(dir, 'locks.db')}`);
  const turns: number[] = [];
  return {
    name: 'ours',
    measure: (durationMs) =>
      hammer(LOCK_CALLERS, durationMs, async (caller) => {
        const turn = (turns[caller] ?? 0) + 1;
        turns[caller] = turn;
        const path = `src/caller-${caller}/file-${turn % PATHS_PER_CALLER}.ts`;
        await ours.acquire(path);
        await ours.release(path);
        return 1;
      }),
    close: () => ours.close(),
  };
}

/** The same from processes of their own: through the one of them that sits, or each with its connection to Redis. */
async function openCrewPairs(way: 'seat' | 'redis', place: string, name: string): Promise<Contender> {
  const crew = await openCrew(way, place, LOCK_CALLERS);
  return {
    name,
    async measure(durationMs) {
      const { count, elapsed_ms } = await crew.measure(durationMs);
      // An acquire and a release.
      return { count: count / 2, elapsed_ms };
    },
    close: () => crew.close(),
  };
}

async function openOurQueue(dir: string): Promise<Contender> {
  const { openOurs, ourQueue } = await import('../ours.ts');
  return cycles(ourQueue(await openOurs(`sqlite:${join(dir, 'queue.db')}`), QUEUE_CALLERS, 1));
}

/** Embedded and in one process, beside a server in memory that syncs as often as we do. */
export async function p4(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('p4');
  const redis = await bench.redis();
  const lockBound = atLeast(0.8, 1.2);
  const queueBound = atLeast(1.5, 2.5);
  const locks: Match = {
    goal: 'P4',
    what: `lock pairs, SQLite, durable, ${LOCK_CALLERS} callers`,
    unit: 'pairs/s',
    ours: () => openOurPairs(dir),
    peers: [{ open: () => openProperLockfile(dir, LOCK_CALLERS) }],
  };
  const queue: Match = {
    goal: 'P4',
    what: `queue cycle, SQLite, durable, ${QUEUE_CALLERS} callers`,
    unit: 'jobs/s',
    ours: () => openOurQueue(dir),
    peers: [],
  };
  const processes: Match = {
    goal: 'P4',
    what: `lock pairs, SQLite, durable, ${LOCK_CALLERS} processes through the seat`,
    unit: 'pairs/s',
    ours: () => openCrewPairs('seat', join(dir, 'seat.db'), 'ours'),
    peers: [],
  };
  if (redis === undefined) {
    bench.progress.shout(`P4 is not compared with Redis and BullMQ: ${NO_REDIS}`);
    return [
      missing(locks, 'Redis', lockBound, NO_REDIS),
      ...(await play(bench, locks)),
      missing(processes, 'Redis', lockBound, NO_REDIS),
      missing(queue, 'BullMQ', queueBound, NO_REDIS),
    ];
  }
  locks.peers.unshift({ open: () => openRedisLocks(redis.path, LOCK_CALLERS), bound: lockBound });
  const eight = `Redis SET NX PX + Lua release, fsync always, ${LOCK_CALLERS} processes`;
  processes.peers.unshift(
    { open: () => openCrewPairs('redis', redis.path, eight), bound: lockBound },
    { open: () => openRedisLocks(redis.path, LOCK_CALLERS) },
  );
  queue.peers.unshift({
    open: async () => cycles(await openBullmq(redis.path, QUEUE_CALLERS)),
    bound: queueBound,
  });
  return [...(await play(bench, locks)), ...(await play(bench, processes)), ...(await play(bench, queue))];
}
