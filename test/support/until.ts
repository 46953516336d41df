const LOOK_EVERY_MS = 10;
export const WAIT_MS_MAX = 30_000;

/** Waits until a condition holds, looking again every few milliseconds; fails after half a minute unless told otherwise. */
export async function until<T>(
  look: () => Promise<T | undefined | false>,
  wait_ms_max = WAIT_MS_MAX,
): Promise<T> {
  const started_ms = Date.now();
  while (Date.now() - started_ms < wait_ms_max) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error(`the condition did not come true within ${wait_ms_max / 1000} seconds`);
}
