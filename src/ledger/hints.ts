import type { Store } from './store-port.ts';

/** The hints of a store one at a time, for who looks at other things between asking for one and awaiting it. */
export interface HintSource {
  next(): Promise<IteratorResult<void>>;
  /** Nobody asks any more. */
  end(): void;
}

export function hintsOf(store: Store, project: string, signal: AbortSignal): HintSource {
  const changes = store.watch(project, signal)[Symbol.asyncIterator]();
  return {
    next() {
      const next = changes.next();
      // Whoever awaits it hears of a failure; when nobody does any more, nobody has to.
      next.catch(() => {});
      return next;
    },
    // It may stand at a hint that nobody took.
    end: () => void changes.return?.(),
  };
}
