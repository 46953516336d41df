const LOOK_EVERY_MS = 10;
const WAIT_MS_MAX = 60_000;

/** Waits until a condition holds, looking again every few milliseconds; fails after a minute. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const started_ms = Date.now();
  while (Date.now() - started_ms < WAIT_MS_MAX) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error('the condition did not come true within a minute');
}
