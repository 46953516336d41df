import { limits } from '../../kernel/limits.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';
import type { AnyOperation } from '../../runtime/operation.ts';

/** A payload's own levels, and those of the request around it. */
const DEPTH_MAX = limits.json_depth_max + 8;

/**
 * JSON.parse reads any depth, but code that walks the value recursively runs out of stack. The shortest text that is too
 * deep has two characters a level, so most requests need no walk.
 */
export function refuseDepth(input: object, text_chars = Number.POSITIVE_INFINITY): Refusal | undefined {
  if (text_chars <= 2 * DEPTH_MAX) return undefined;
  for (const [field, value] of Object.entries(input))
    if (exceeds(value, 1)) return invalid(field.slice(0, 100), `at most ${DEPTH_MAX} levels of JSON`);
  return undefined;
}

function exceeds(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (depth >= DEPTH_MAX) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    if (exceeds(inner, depth + 1)) return true;
  return false;
}

/**
 * How many seconds a call asks to wait, of what can be waited for; what it sent is still to be checked. Signals that stand for
 * several others cost a call 20 µs, and a caller that does not wait needs none.
 */
export function secondsWaited({ waits }: AnyOperation, input: unknown): number {
  const asked = waits === undefined ? 0 : Number((input as Record<string, unknown> | undefined)?.[waits]);
  return asked > 0 ? asked : 0;
}
