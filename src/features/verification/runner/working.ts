import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { Executor } from './executor.ts';
import { Runner } from './runner.ts';

const LOOK_MS = 5_000;

export interface Working {
  /** Ends what is under way; another runner begins it anew. */
  stop(): Promise<void>;
}

/** A runner that lives as long as its process, and looks every few seconds whether there is something to do. */
export function keepWorking(
  coxswain: Coxswain,
  executors: readonly Executor[],
  env: NodeJS.ProcessEnv,
  look_ms = LOOK_MS,
): Working {
  const stopping = new AbortController();
  const connection = coxswain.connect({ agent_id: 'cox-verifier', agent_type: 'verifier' }, 'operator', {
    shows: 'never',
  });
  const runner = new Runner({ coxswain, connection, executors, root: coxswain.workspace.root, env });
  const work = async () => {
    while (!stopping.signal.aborted) {
      // A store that is away now comes back; the next look asks it again.
      const done = await runner
        .witness()
        .then(() => runner.runNext(stopping.signal))
        .catch(() => undefined);
      if (done === undefined) await coxswain.clock.sleep(look_ms, stopping.signal);
    }
  };
  const done = executors.length === 0 ? Promise.resolve() : work().catch(() => {});
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}
