import { describeHeld, type HeldFile } from '../shared/held-by-others.ts';

/** What an agent reads if another agent holds a file: who, why, until when, and what to do instead. */
export function heldText(held: readonly HeldFile[], now_ms: number): string {
  const holders = [...new Set(held.map(({ held_by }) => held_by))].slice(0, 3).join(', ');
  return [
    describeHeld(held, now_ms),
    `Do not change it in any other way either: ${holders} is at work there. Do something else meanwhile, ask with send_message, or wait in line with acquire_lock and wait_seconds (MCP server coxswain); then read the file again before you change it.`,
  ].join('\n');
}
