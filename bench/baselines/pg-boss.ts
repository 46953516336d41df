import { PgBoss } from 'pg-boss';
import { type CycleQueue, pull, share } from '../harness.ts';

const QUEUE = 'bench';

/** `batch` 1: send, fetch and complete one by one, as it comes. Larger: its own batch calls. */
export async function openPgBoss(url: string, callers: number, batch: number): Promise<CycleQueue> {
  // Its timers stay off: they would run in the other contenders' turns.
  const quiet = { schedule: false, supervise: false };
  const boss = new PgBoss({ connectionString: url, max: callers, ...quiet });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue(QUEUE);
  const data = (n: number) => ({ n, text: `task ${n}` });
  return {
    name: batch === 1 ? 'pg-boss as it comes' : `pg-boss, batches of ${batch}`,
    submit: (count) =>
      share(count, callers, batch, (units, first) => {
        if (batch === 1) return boss.send(QUEUE, data(first));
        return boss.insert(
          QUEUE,
          Array.from({ length: units }, (_, index) => ({ data: data(first + index) })),
        );
      }),
    drain: (count) =>
      pull(count, callers, async () => {
        const jobs = await boss.fetch(QUEUE, { batchSize: batch });
        if (jobs.length === 0) return 0;
        await boss.complete(
          QUEUE,
          jobs.map((job) => job.id),
        );
        return jobs.length;
      }),
    async close() {
      await boss.stop({ graceful: false });
    },
  };
}
