import type { Clock } from '../../src/kernel/clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Random, systemRandom } from '../../src/kernel/ids.ts';

/** Pauses take no time and are written down; chance is always in the middle. */
export function quickTime(): { clock: Clock; random: Random; pauses_ms: number[] } {
  const pauses_ms: number[] = [];
  return {
    pauses_ms,
    random: { ...systemRandom, fraction: () => 0.5 },
    clock: {
      ...systemClock,
      async sleep(duration_ms, signal) {
        signal?.throwIfAborted();
        pauses_ms.push(duration_ms);
      },
    },
  };
}
