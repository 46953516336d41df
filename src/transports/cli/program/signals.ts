export { skipLauncher } from '../../../child-process/client-process.ts';

export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const ECHO_MS = 500;
let echo_ms = 0;

/**
 * A launcher (bin/cox on an old Node) passes signals on to us. A signal to the whole group, as systemd, a
 * closed terminal or `timeout` send it, therefore reaches us twice. One that follows so soon after the first
 * is the same request.
 */
export function expectEchoes(): void {
  echo_ms = ECHO_MS;
}

/**
 * A launcher that is killed can't pass the signal on, but the signal was meant for us. So its closed channel
 * counts as a request to stop. Otherwise a waiter would still take its lock and a server would keep its port.
 */
export function endWithLauncher(): void {
  if (process.connected === undefined) return;
  // Emitted first: on Windows a signal to ourselves would leave no time to finish.
  const stop = () => void (process.emit('SIGTERM', 'SIGTERM') || process.kill(process.pid, 'SIGTERM'));
  if (process.connected) process.once('disconnect', stop);
  else stop();
  // Only now, because the listener would keep the process alive.
  process.channel?.unref();
}

/**
 * Resolves when this process is asked to stop. Only the first request is caught. A second one, or one after
 * `dispose`, ends the process at once, as usual.
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
