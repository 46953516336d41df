/** `npm run bench`: how fast, beside whom. Every goal is a ratio of two sides that took turns in this run. */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type Bench, type Row, verdictOf } from './bench.ts';
import { openCleanup } from './cleanup.ts';
import { type Goal, type Options, parseOptions, USAGE, UsageError } from './options.ts';
import { openProgress, type Progress } from './progress.ts';
import { json, table, writeResults } from './report.ts';
import { type PostgresServer, type RedisServer, startPostgresServer, startRedis } from './servers.ts';

const TMPFS_MAGIC = 0x01021994;

/** A goal's file is loaded when it is wanted, so that a broken peer fails its own goal alone. */
const PLAYERS: Record<Goal, () => Promise<(bench: Bench) => Promise<Row[]>>> = {
  P1: async () => (await import('./goals/p1.ts')).p1,
  P2: async () => (await import('./goals/p2.ts')).p2,
  P3: async () => (await import('./goals/p3.ts')).p3,
  P4: async () => (await import('./goals/p4.ts')).p4,
  P5: async () => (await import('./goals/p5.ts')).p5,
  P6: async () => (await import('./goals/p6.ts')).p6,
  P7: async () => (await import('./goals/p7.ts')).p7,
  P8: async () => (await import('./goals/p8.ts')).p8,
  P9: async () => (await import('./goals/p9.ts')).p9,
  P10: async () => (await import('./goals/p10.ts')).p10,
  CROWD: async () => (await import('./goals/crowd.ts')).crowd,
  WAIT: async () => (await import('./goals/wait.ts')).wait,
  EVENTS: async () => (await import('./goals/events.ts')).events,
  GUARD: async () => (await import('./goals/guard.ts')).guard,
  GUARDED: async () => (await import('./goals/guarded.ts')).guarded,
  FILES: async () => (await import('./goals/files.ts')).files,
  BOARD: async () => (await import('./goals/board.ts')).board,
  WORKDIR: async () => (await import('./goals/workdir.ts')).workdir,
};

/** Ours beside ours: without ours there is nothing to measure. */
const OURS_ALONE: ReadonlySet<Goal> = new Set([
  'P5',
  'P6',
  'P7',
  'P8',
  'P10',
  'CROWD',
  'WAIT',
  'EVENTS',
  'GUARD',
  'GUARDED',
  'BOARD',
  'WORKDIR',
]);

interface Servers {
  redis?: Promise<RedisServer | undefined>;
  postgres?: Promise<PostgresServer>;
}

function openBench(options: Options, servers: Servers, progress: Progress): Bench {
  const cleanup = openCleanup();
  return {
    ...options,
    interrupted: false,
    progress,
    cleanup,
    redis() {
      servers.redis ??= startRedis(cleanup, progress);
      return servers.redis;
    },
    postgres() {
      servers.postgres ??= startPostgresServer(cleanup, progress);
      return servers.postgres;
    },
  };
}

async function versionsOf(servers: Servers): Promise<string[]> {
  const [redis, postgres] = await Promise.allSettled([servers.redis, servers.postgres]);
  const named = (name: string, result: PromiseSettledResult<{ version: string } | undefined>): string[] =>
    result.status === 'fulfilled' && result.value !== undefined ? [`${name} ${result.value.version}`] : [];
  return [...named('Redis', redis), ...named('PostgreSQL', postgres)];
}

async function playAll(options: Options, bench: Bench): Promise<{ rows: Row[]; failed: Goal[] }> {
  const rows: Row[] = [];
  const failed: Goal[] = [];
  for (const goal of options.goals) {
    if (bench.interrupted) break;
    if (OURS_ALONE.has(goal) && options.baselines_only) continue;
    try {
      const player = await PLAYERS[goal]();
      rows.push(...(await player(bench)));
    } catch (error) {
      if (bench.interrupted) break; // its servers were stopped under it
      failed.push(goal);
      bench.progress.shout(
        `${goal} failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
      );
    }
  }
  return { rows, failed };
}

function warnAboutMemoryDisk(progress: Progress): void {
  if (statfsSync(tmpdir()).type !== TMPFS_MAGIC) return;
  progress.shout(
    'the temporary directory is in memory, where fsync costs nothing: set TMPDIR to a real disk',
  );
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const progress = openProgress();
  const servers: Servers = {};
  const bench = openBench(options, servers, progress);
  // `on`, not `once`: signal-exit, which proper-lockfile brings, ends the process when it sees no other listener.
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const])
    process.on(signal, () => {
      if (bench.interrupted) return;
      bench.interrupted = true;
      progress.say(`${signal}: stopping servers, removing temporary files`);
      void bench.cleanup.run().finally(() => process.exit(code));
    });
  try {
    warnAboutMemoryDisk(progress);
    const { rows, failed } = await playAll(options, bench);
    progress.done();
    if (bench.interrupted) return 130;
    const facts = { command: options.command, servers: await versionsOf(servers), failed };
    process.stdout.write(`${options.json ? json(rows, facts) : table(rows, facts)}\n`);
    if (options.baselines_only) return failed.length > 0 ? 1 : 0;
    writeResults(rows, facts);
    const missed = rows.filter((row) => verdictOf(row) === 'missed').length;
    return options.fail && missed + failed.length > 0 ? 1 : 0;
  } finally {
    await bench.cleanup.run();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
