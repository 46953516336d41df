export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves when this process is asked to stop. Only the first request is caught: a second one, or one that comes after
 * `dispose`, ends the process at once, as everywhere.
 */
export function untilStopped(): { signal: Promise<void>; dispose(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => {
    dispose();
    resolve();
  };
  const dispose = () => {
    for (const name of SIGNALS) process.removeListener(name, stop);
  };
  for (const name of SIGNALS) process.on(name, stop);
  return { signal: promise, dispose };
}
