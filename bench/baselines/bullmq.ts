import { Queue, Worker } from 'bullmq';
import { type CycleQueue, share } from '../harness.ts';

const QUEUE = 'bench';

/** BullMQ as documented: `add` one by one from concurrent callers, one worker with the same concurrency. */
export async function openBullmq(path: string, callers: number): Promise<CycleQueue> {
  const queue = new Queue(QUEUE, { connection: { path } });
  let done = 0;
  let wanted = Number.POSITIVE_INFINITY;
  let resolveDone: () => void = () => {};
  const worker = new Worker(QUEUE, async () => undefined, {
    // A blocking connection must wait for as long as it takes.
    connection: { path, maxRetriesPerRequest: null },
    concurrency: callers,
    autorun: false,
  });
  // Emitted after the completion was acknowledged, which with fsync always means it is on disk.
  worker.on('completed', () => {
    done++;
    if (done >= wanted) resolveDone();
  });
  worker.on('error', (error) => process.stderr.write(`bullmq: ${error.message}\n`));
  await queue.waitUntilReady();
  await worker.waitUntilReady();
  await worker.pause(true);
  void worker.run();
  return {
    name: 'BullMQ, fsync always',
    submit: (count) =>
      share(count, callers, 1, (_, first) => queue.add('task', { n: first, text: `task ${first}` })),
    async drain(count) {
      done = 0;
      wanted = count;
      const finished = new Promise<void>((resolve) => {
        resolveDone = resolve;
      });
      worker.resume();
      await finished;
      await worker.pause();
    },
    async close() {
      await worker.close(true);
      await queue.close();
    },
  };
}
