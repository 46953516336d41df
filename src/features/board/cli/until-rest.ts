import { StoreFailure } from '../../../kernel/refusal.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { storeHints } from '../../../runtime/waiting.ts';
import { isBoardRow } from '../board-claim.ts';
import { type Rest, restOf } from '../runner/at-rest.ts';

/** A hint may be lost. */
const LOOK_MS = 2_000;

/** Waits until no claim is open any more. Undefined: `over` was aborted first. */
export async function untilRest(
  coxswain: Coxswain,
  since_ms: number,
  over: AbortController,
): Promise<Rest | undefined> {
  const { store, clock, project } = coxswain;
  const hints = storeHints(store, clock, project, over.signal, isBoardRow);
  try {
    while (!over.signal.aborted) {
      const rest = await restOf(coxswain, since_ms).catch((error: unknown) => {
        if (error instanceof StoreFailure) return undefined;
        throw error;
      });
      if (rest !== undefined) return rest;
      await hints.next(clock.elapsed_ms() + LOOK_MS);
    }
    return undefined;
  } finally {
    hints.close();
    over.abort();
  }
}
