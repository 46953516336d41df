export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const ECHO_MS = 500;
let echo_ms = 0;

/**
 * Started by a launcher (bin/cox on an old Node), which passes on what it is told: of what was told to the whole group, as
 * systemd, a closed terminal or `timeout` do, we hear twice. What comes so soon after the first is the same request.
 */
export function expectEchoes(): void {
  echo_ms = ECHO_MS;
}

/**
 * Resolves when this process is asked to stop. Only the first request is caught: a second one, or one that comes after
 * `dispose`, ends the process at once, as everywhere.
 */
export function untilStopped(): { signal: Promise<void>; dispose(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let echoing = false;
  const stop = () => {
    resolve();
    echoing = echo_ms > 0;
    if (echoing) setTimeout(letGo, echo_ms).unref();
    else letGo();
  };
  const letGo = () => {
    for (const name of SIGNALS) process.removeListener(name, stop);
  };
  for (const name of SIGNALS) process.on(name, stop);
  return { signal: promise, dispose: () => echoing || letGo() };
}
