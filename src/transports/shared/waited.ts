import type { AnyOperation } from '../../runtime/operation.ts';

/**
 * How many seconds a call asks to wait, of what can be waited for; what it sent is still to be checked. Signals that stand for
 * several others cost a call 20 µs, and a caller that does not wait needs none.
 */
export function secondsWaited({ waits }: AnyOperation, input: unknown): number {
  const asked = waits === undefined ? 0 : Number((input as Record<string, unknown> | undefined)?.[waits]);
  return asked > 0 ? asked : 0;
}
