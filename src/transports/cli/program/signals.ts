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
 * A launcher that is killed can pass nothing on; who killed it meant us. That its channel closes is a request to stop like any
 * other, or a waiter would still take its lock and a server keep its port.
 */
export function endWithLauncher(): void {
  if (process.connected === undefined) return;
  // Emitted first: on Windows a signal to ourselves would leave no time to finish.
  const stop = () => void (process.emit('SIGTERM', 'SIGTERM') || process.kill(process.pid, 'SIGTERM'));
  if (process.connected) process.once('disconnect', stop);
  else stop();
  // After the listener, which would have kept us alive.
  process.channel?.unref();
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
