import type { Clock } from '../../../kernel/clock.ts';
import { Screen } from './screen.ts';

/** Times pass and locks expire even if nothing is committed. */
const REDRAW_MS = 1000;
/** A person can't read faster than this, however much happens. */
const REDRAW_GAP_MS = 150;

/**
 * Draws on the terminal's alternate screen until it is over: shortly after a change, and every second.
 * `begin` gets the function that reports a change; what it starts is awaited at the end.
 */
export async function keepDrawing(
  clock: Clock,
  over: AbortController,
  begin: (stir: () => void) => Promise<void>,
  picture: () => Promise<readonly string[]>,
  quitKeys?: readonly string[],
): Promise<void> {
  let changed = Promise.withResolvers<void>();
  const stir = () => changed.resolve();
  using screen = new Screen({ quitKeys, onQuit: () => over.abort(), onChange: stir });
  over.signal.addEventListener('abort', stir);
  const begun = begin(stir);
  // An error that ends the background work ends the picture too.
  begun.catch(() => over.abort());
  while (!over.signal.aborted) {
    changed = Promise.withResolvers<void>();
    screen.draw(await picture());
    await clock.sleep(REDRAW_GAP_MS, over.signal).catch(() => {});
    await within(changed.promise, REDRAW_MS - REDRAW_GAP_MS, clock, over.signal);
  }
  await begun;
}

async function within(event: Promise<void>, time_ms: number, clock: Clock, over: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const signal = AbortSignal.any([timer.signal, over]);
  await Promise.race([event, clock.sleep(time_ms, signal).catch(() => {})]);
  timer.abort();
}
