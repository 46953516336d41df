import type { LogEntry } from '../log.ts';

/**
 * Rows from several places in the order of their positions, each once: after an interrupted archiving some
 * rows are both in the file and in the log.
 */
export async function* mergeRows(sources: readonly AsyncIterable<LogEntry>[]): AsyncIterable<LogEntry> {
  const open: { iterator: AsyncIterator<LogEntry>; next: LogEntry }[] = [];
  for (const source of sources) {
    const iterator = source[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done !== true) open.push({ iterator, next: first.value });
  }
  try {
    for (let position = 0; ; ) {
      const lowest = open.reduce<(typeof open)[number] | undefined>(
        (found, each) => (found === undefined || each.next.position < found.next.position ? each : found),
        undefined,
      );
      if (lowest === undefined) return;
      if (lowest.next.position > position) yield lowest.next;
      position = lowest.next.position;
      const following = await lowest.iterator.next();
      if (following.done === true) open.splice(open.indexOf(lowest), 1);
      else lowest.next = following.value;
    }
  } finally {
    // A reader that stops early leaves no file open.
    for (const { iterator } of open) await iterator.return?.();
  }
}
