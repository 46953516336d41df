import { coordinate } from '../../../src/features/workdir/folder/pass.ts';
import { type Published, publishPass } from '../../../src/features/workdir/scheduler/publish-pass.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { Refusal } from '../../../src/kernel/refusal.ts';
import { type Clone, GIT_ENV } from './repositories.ts';
import { NOW_MS } from './verb-stage.ts';

/** No wait between two tries. */
const hurried = { ...systemClock, sleep: async () => {} };

/** A pass over a clone, committed and perhaps pushed; `before` is what others do between the two. */
export async function publish(
  clone: Clone,
  push: boolean,
  { before = () => {}, clock = hurried }: { before?: () => void; clock?: Clock } = {},
): Promise<Published | Refusal> {
  const run = async () => {
    const pass = await coordinate({ root: clone.work, now_ms: NOW_MS, settings: DEFAULT_WORKDIR });
    before();
    return pass;
  };
  return await publishPass(run, { root: clone.work, env: GIT_ENV, push, clock });
}

export function done(answer: Published | Refusal): Published {
  if ('success' in answer) throw new Error(answer.message);
  return answer;
}
