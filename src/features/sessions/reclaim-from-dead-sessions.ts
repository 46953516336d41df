import type { Step } from '../../runtime/operation.ts';
import { silentSince, stillFreeing } from './state.ts';

/**
 * Whoever is turned away looks, once in a while, whether somebody died with what it wants; so nothing has to run in the
 * background. True: something was freed, and asking again is worth it.
 */
export async function freedFromSilent(step: Step): Promise<boolean> {
  const { presence } = step;
  if (presence === undefined || !presence.timeToLook()) return false;
  const { now_ms } = await step.find({});
  const silent = silentSince(now_ms - presence.stale_ms);
  const { loaded } = await step.find({ ranges: [silent, stillFreeing] });
  if (loaded.list(silent).length + loaded.list(stillFreeing).length === 0) return false;
  // Much to load, and rarely needed.
  const { cleanUp } = await import('./reclaim.ts');
  const { locks_released, tasks_returned } = await cleanUp(step, presence.stale_ms);
  return locks_released + tasks_returned > 0;
}
