import type { Json, JsonObject } from './kernel/json.ts';

const TEXT_CHARS_MAX = 300;
const ITEMS_MAX = 20;

/**
 * The audit row's copy of the parameters. Long texts are shortened: their full form is in the event, and one copy of
 * 200 KB is enough.
 */
export function summarise(parameters: JsonObject): JsonObject {
  const short: JsonObject = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) short[name] = shorten(value, 0);
  }
  return short;
}

function shorten(value: Json, depth: number): Json {
  if (typeof value === 'string') {
    if (value.length <= TEXT_CHARS_MAX) return value;
    return `${value.slice(0, TEXT_CHARS_MAX).toWellFormed()}… (${value.length} characters)`;
  }
  if (value === null || typeof value !== 'object') return value;
  if (depth === 3) return Array.isArray(value) ? `[${value.length} items]` : '{…}';
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => shorten(item, depth + 1));
    return value.length > ITEMS_MAX ? [...items, `… (${value.length} items)`] : items;
  }
  const entries = Object.entries(value).flatMap(([name, inner]) =>
    inner === undefined ? [] : [[name, shorten(inner, depth + 1)] as const],
  );
  return Object.fromEntries(entries.slice(0, ITEMS_MAX));
}
