import type { ClaimRules } from '../../src/features/claims/claim-rules.ts';
import { open } from '../../src/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { SEED_RULES, TestFleet } from '../support/fleet.ts';

export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;

/** A clock that stands until the test moves it. */
export interface Hands {
  pass(by_ms: number): void;
  now_ms(): number;
}

export interface Stage {
  readonly fleet: TestFleet;
  readonly coxswain: Coxswain;
  readonly time: Hands;
}

/** One story on a store of its own, in a time of its own. */
export async function play(
  tell: (stage: Stage) => Promise<void>,
  rules: Partial<ClaimRules> = {},
): Promise<void> {
  let now_ms = Date.UTC(2026, 1, 21, 12);
  const clock: Clock = { now_ms: () => now_ms, elapsed_ms: () => now_ms, sleep: async () => {} };
  const time: Hands = {
    pass: (by_ms) => {
      now_ms += by_ms;
    },
    now_ms: () => now_ms,
  };
  const coxswain = await open({ store: 'memory:', env: {}, clock });
  try {
    await tell({ fleet: new TestFleet(coxswain, { ...SEED_RULES, ...rules }), coxswain, time });
  } finally {
    await coxswain.close();
  }
}
