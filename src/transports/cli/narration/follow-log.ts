import { StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';

/** A page with fewer rows is the last one for now. */
export const PAGE = 500;
const AGAIN_MS = 1000;

/** The last position of the log. */
export async function endOfLog({ store, project }: Coxswain): Promise<number> {
  return (await store.read(project, Number.MAX_SAFE_INTEGER, 1)).safe;
}

/**
 * Follows the log after a position, forever. Every row comes once and in order, even if the store goes away
 * and comes back. An empty page only says that the store was read.
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
      // No other error goes away by itself.
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
    // Everything up to `certain` was safe before this read, so this read has seen it. The read's own `safe`
    // may already count a row that came during it.
    place.position = Math.max(place.position, entries.at(-1)?.position ?? place.certain);
    place.certain = safe;
    yield entries;
    if (entries.length < PAGE) return;
  }
}
