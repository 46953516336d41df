import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

export interface Unreadable {
  readonly problem: string;
  /** The rest may still come: half of a JSON object never parses. */
  readonly incomplete?: boolean;
}

/** Parses untrusted text as a JSON object, or says why it is none. Never throws. */
export function parseObject(text: string): { readonly record: JsonObject } | Unreadable {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return { problem: text.trim() === '' ? 'it is empty' : 'it is not JSON', incomplete: true };
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return { problem: 'it is not a JSON object' };
  // The shortest text of that depth has two characters per level.
  if (text.length > 2 * limits.json_depth_max && isTooDeep(record))
    return { problem: `it is nested deeper than ${limits.json_depth_max} levels` };
  return { record: record as JsonObject };
}

/** Parsing deep JSON is safe; walking it, for instance to write it again, is not. */
export function isTooDeep(value: unknown, depth = 1): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (depth > limits.json_depth_max) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    if (isTooDeep(inner, depth + 1)) return true;
  return false;
}
