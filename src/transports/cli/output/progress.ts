import { systemClock } from '../../../kernel/clock.ts';
import type { Terminal } from './terminal.ts';

const EVERY_MS = 200;

/** On one line that is overwritten, and only if a person is watching. */
export function progress(terminal: Terminal, what: string): (rows: number) => void {
  const started_ms = systemClock.elapsed_ms();
  let said_ms = started_ms;
  return (rows) => {
    const now_ms = systemClock.elapsed_ms();
    if (terminal.watched !== true || now_ms - said_ms < EVERY_MS) return;
    said_ms = now_ms;
    const rate = Math.round((rows * 1000) / (now_ms - started_ms));
    const text = `${what}: ${rows.toLocaleString('en')} rows, ${rate.toLocaleString('en')} a second`;
    void terminal.err(`\r${text} \r`).catch(() => {});
  };
}
