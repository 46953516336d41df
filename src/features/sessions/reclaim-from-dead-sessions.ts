import type { Step } from '../../runtime/operation.ts';
import { silentSince, stillFreeing } from './state.ts';

/**
 * A caller that is turned away checks, once in a while, whether the holder of what it wants has died, so
 * nothing has to run in the background. True: something was freed, and asking again is worthwhile.
 */
export async function reclaimFromDeadSessions(step: Step, stale_ms: number): Promise<boolean> {
  const { now_ms } = await step.find({});
  const silent = silentSince(now_ms - stale_ms);
  const { loaded } = await step.find({ ranges: [silent, stillFreeing] });
  if (loaded.list(silent).length + loaded.list(stillFreeing).length === 0) return false;
  // Large to load, and rarely needed.
  const { cleanUp } = await import('./reclaim.ts');
  const { locks_released, tasks_returned } = await cleanUp(step, stale_ms);
  return locks_released + tasks_returned > 0;
}
