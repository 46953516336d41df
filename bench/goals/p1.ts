import { join } from 'node:path';
import { openFdatasync } from '../baselines/fdatasync.ts';
import { openRawSqlite } from '../baselines/raw-sqlite.ts';
import { atLeast, type Bench, play, type Row } from '../bench.ts';
import { type Contender, hammer, share } from '../harness.ts';

async function openOurLocks(dir: string): Promise<Contender> {
  const { openOurs } = await import('../ours.ts');
  const ours = await openOurs(`sqlite:${join(dir, 'ours.db')}`);
  let next = 0;
  const pathOf = (n: number): string => `src/part-${n % 100}/file-${n}.ts`;
  return {
    name: 'ours',
    async measure(durationMs) {
      const first = next;
      // A path is never asked for twice, so that each call is a fresh acquire and not a renewal.
      const sample = await hammer(1, durationMs, async () => {
        await ours.acquire(pathOf(next++));
        return 1;
      });
      // Not timed: the next round starts without locks, as the first did.
      await share(next - first, 32, 1, (_, index) => ours.release(pathOf(first + index)));
      return sample;
    },
    close: () => ours.close(),
  };
}

/** Embedded, one caller: a lock with everything we keep about it, beside the barest durable commit. */
export async function p1(bench: Bench): Promise<Row[]> {
  const dir = await bench.cleanup.tempDir('p1');
  return play(bench, {
    goal: 'P1',
    what: 'lock acquire, embedded, 1 caller',
    unit: 'acquires/s',
    ours: () => openOurLocks(dir),
    peers: [
      { open: async () => openRawSqlite(dir), bound: atLeast(0.6, 0.75) },
      { open: async () => openFdatasync(dir) },
    ],
  });
}
