/** Many processes on one file, started once and measured again and again. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { percentile } from './statistics.ts';

/**
 * How a worker commits: through our library (with or without the seat), with SQLite's own busy handler, by claiming
 * edges in a folder of plain files, by leaving proposals in its inbox for a serialiser, or in a Redis server.
 */
export type Way = 'seat' | 'direct' | 'busy handler' | 'claims in files' | 'proposals' | 'redis';

export interface WorkerReport {
  /** Of each commit, in order. */
  readonly waits_ms: number[];
}

export interface CrewSample {
  readonly count: number;
  readonly elapsed_ms: number;
  /** 1 when all got the same, 1/n when one got everything. */
  readonly jain: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly worst_ms: number;
}

export interface Crew {
  measure(duration_ms: number, workers?: number): Promise<CrewSample>;
  close(): Promise<void>;
}

export async function openCrew(way: Way, file: string, size: number): Promise<Crew> {
  const workers: ChildProcess[] = [];
  for (let index = 0; index < size; index += 1) {
    const child = fork(new URL('crew-worker.ts', import.meta.url), [way, file, String(index)]);
    workers.push(child);
    // One after the other: 32 starts at once on two cores would time each other out.
    await once(child, 'message');
  }
  return {
    async measure(duration_ms, count = size) {
      const active = workers.slice(0, count);
      const start = performance.now();
      const reports = await Promise.all(active.map((worker) => run(worker, duration_ms)));
      return sampleOf(reports, performance.now() - start);
    },
    async close() {
      await Promise.all(
        workers.map(async (worker) => {
          const gone = once(worker, 'exit');
          worker.send('close');
          await gone;
        }),
      );
    },
  };
}

async function run(worker: ChildProcess, duration_ms: number): Promise<WorkerReport> {
  // No listener stays: a worker is run again and again.
  const over = new AbortController();
  const answered = once(worker, 'message', over);
  const died = once(worker, 'exit', over).then(() => {
    throw new Error('a worker died');
  });
  for (const end of [answered, died]) end.catch(() => {});
  worker.send(duration_ms);
  try {
    const [report] = (await Promise.race([answered, died])) as [WorkerReport];
    return report;
  } finally {
    over.abort();
  }
}

export function jainIndex(counts: readonly number[]): number {
  const sum = counts.reduce((total, count) => total + count, 0);
  const squares = counts.reduce((total, count) => total + count * count, 0);
  return squares === 0 ? 0 : (sum * sum) / (counts.length * squares);
}

function sampleOf(reports: readonly WorkerReport[], elapsed_ms: number): CrewSample {
  const waits_ms = reports.flatMap((report) => report.waits_ms);
  return {
    count: waits_ms.length,
    elapsed_ms,
    jain: jainIndex(reports.map((report) => report.waits_ms.length)),
    p50_ms: percentile(waits_ms, 0.5),
    p99_ms: percentile(waits_ms, 0.99),
    worst_ms: waits_ms.reduce((worst, wait) => Math.max(worst, wait), 0),
  };
}
