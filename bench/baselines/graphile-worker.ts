import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from 'graphile-worker';
import pg from 'pg';
import { type CycleQueue, share } from '../harness.ts';

export interface GraphileOptions {
  /** As it comes: jobs added, fetched and completed one by one. Best: everything it can batch, batched. */
  best: boolean;
  callers: number;
  batch: number;
}

const TASK = 'bench';
// As in its own performance test. Here 50 drained 7,000 jobs/s, 500 17,000 and 2,000 25,000; by then one
// process holds locks on 2,000 jobs, which is no longer the work that batches of 50 do.
const LOCAL_QUEUE_SIZE = 500;
const silent = new Logger(() => () => {});

async function waitUntilEmpty(pool: pg.Pool): Promise<void> {
  // Completion isn't awaited by its worker, so only the table knows when the last one is durable.
  for (;;) {
    const left = await pool.query('SELECT 1 FROM graphile_worker._private_jobs LIMIT 1');
    if (left.rowCount === 0) return;
  }
}

function start(pool: pg.Pool, options: GraphileOptions, onTask: () => void): Promise<Runner> {
  const batching = {
    localQueue: { size: LOCAL_QUEUE_SIZE },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  return run({
    pgPool: pool,
    concurrency: options.callers,
    noHandleSignals: true,
    logger: silent,
    parsedCronItems: [],
    taskList: { [TASK]: async () => onTask() },
    preset: { worker: options.best ? batching : {} },
  });
}

function add(utils: WorkerUtils, options: GraphileOptions, count: number): Promise<void> {
  const job = (n: number) => ({ identifier: TASK, payload: { n, text: `task ${n}` } });
  if (!options.best)
    return share(count, options.callers, 1, (_, first) => utils.addJob(TASK, job(first).payload));
  return share(count, options.callers, options.batch, (units, first) =>
    utils.addJobs(Array.from({ length: units }, (_, index) => job(first + index))),
  );
}

export async function openGraphileWorker(url: string, options: GraphileOptions): Promise<CycleQueue> {
  // One connection per caller, and one each for LISTEN and for our look at the table.
  const pool = new pg.Pool({ connectionString: url, max: options.callers + 2 });
  // Its own check of the pool asks for both handlers.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
  await utils.migrate();
  return {
    name: options.best ? `graphile-worker, batches of ${options.batch}` : 'graphile-worker as it comes',
    submit: (count) => add(utils, options, count),
    async drain(count) {
      let done = 0;
      let resolveDone: () => void = () => {};
      const finished = new Promise<void>((resolve) => {
        resolveDone = resolve;
      });
      const runner = await start(pool, options, () => {
        done++;
        if (done === count) resolveDone();
      });
      await finished;
      await waitUntilEmpty(pool);
      await runner.stop();
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}
