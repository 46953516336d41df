import { StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';

/** A page with fewer rows is the last for now. */
export const PAGE = 500;
const AGAIN_MS = 1000;

/** How far the log goes. */
export async function endOfLog({ store, project }: Coxswain): Promise<number> {
  return (await store.read(project, Number.MAX_SAFE_INTEGER, 1)).safe;
}

/**
 * The log after a position, for ever: every row once and in order, also across a store that goes away and comes back.
 * An empty page says only that somebody has looked.
 */
export async function* follow(
  coxswain: Coxswain,
  after: number,
  signal: AbortSignal,
  onFailure: (failure: StoreFailure) => void = () => {},
): AsyncGenerator<LogEntry[]> {
  const { store, project, clock } = coxswain;
  const place = { position: after, certain: after };
  while (!signal.aborted) {
    try {
      const hints = store.watch(project, signal)[Symbol.asyncIterator]();
      do yield* pages(coxswain, place);
      while (!signal.aborted && (await hints.next()).done !== true);
      return;
    } catch (error) {
      // Everything else will not mend itself.
      if (!(error instanceof StoreFailure) || error.refusal.error !== 'database_unavailable') throw error;
      onFailure(error);
      await clock.sleep(AGAIN_MS, signal).catch(() => {});
    }
  }
}

async function* pages(
  { store, project }: Coxswain,
  place: { position: number; certain: number },
): AsyncGenerator<LogEntry[]> {
  for (;;) {
    const { entries, safe } = await store.read(project, place.position, PAGE);
    // What was certain before this read has been seen with it; its own `safe` may count a row that came just now.
    place.position = Math.max(place.position, entries.at(-1)?.position ?? place.certain);
    place.certain = safe;
    yield entries;
    if (entries.length < PAGE) return;
  }
}
