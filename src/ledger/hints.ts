import type { Store } from './store-port.ts';

/**
 * The hints of a store one at a time, for a caller that does other things between asking for a hint and
 * awaiting it.
 */
export interface HintSource {
  next(): Promise<IteratorResult<void>>;
  /** The caller asks for no more hints. */
  end(): void;
}

export function hintsOf(store: Store, project: string, signal: AbortSignal): HintSource {
  const changes = store.watch(project, signal)[Symbol.asyncIterator]();
  return {
    next() {
      const next = changes.next();
      // A caller that awaits it gets the failure; without one, the failure need not be reported.
      next.catch(() => {});
      return next;
    },
    // The iterator may be holding a hint that was never taken.
    end: () => void changes.return?.(),
  };
}
