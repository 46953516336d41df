import { maskSecrets } from '../command-analysis/secrets.ts';
import type { Json, JsonObject } from '../kernel/json.ts';

const TEXT_CHARS_MAX = 300;
const ITEMS_MAX = 20;
/** So much of a long text is searched for secrets: more than what is kept, or a half of one might be. */
const SEARCHED_CHARS = TEXT_CHARS_MAX + 4096;
/** What stands under a name with such an end is a secret, however it looks. */
const SECRET_ENDS = [
  ...['password', 'passwd', 'passphrase', 'secret', 'token', 'credential', 'credentials', 'authorization'],
  ...['apikey', 'api_key', 'accesskey', 'access_key', 'privatekey', 'private_key'],
];

/**
 * The audit row's copy of the parameters. Long texts are shortened: their full form is in the event, and one copy of
 * 200 KB is enough. Secrets are masked: rows are kept for months and read by many.
 */
export function summarise(parameters: JsonObject, unlogged: readonly string[] = []): JsonObject {
  const short: JsonObject = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) short[name] = unlogged.includes(name) ? '(not logged)' : shorten(name, value, 0);
  }
  return short;
}

function shorten(name: string, value: Json, depth: number): Json {
  if (typeof value === 'string') return value !== '' && isSecretName(name) ? '***' : shortText(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth === 3) return Array.isArray(value) ? `[${value.length} items]` : '{…}';
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => shorten(name, item, depth + 1));
    return value.length > ITEMS_MAX ? [...items, `… (${value.length} items)`] : items;
  }
  const entries = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [[shortText(key), shorten(key, inner, depth + 1)] as const],
  );
  return Object.fromEntries(entries.slice(0, ITEMS_MAX));
}

function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_ENDS.some((end) => lower.endsWith(end));
}

function shortText(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return storable(maskSecrets(text));
  const shown = maskSecrets(text.slice(0, SEARCHED_CHARS)).slice(0, TEXT_CHARS_MAX);
  return `${storable(shown)}… (${text.length} characters)`;
}

/**
 * A row tells of what was refused, too, whatever that was. NUL and half a surrogate pair are what PostgreSQL can't keep: such a
 * row would be lost, and those that are written together with it.
 */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A refusal may quote what it was given; what is kept of it holds no secrets and can be kept everywhere. */
export function withoutSecrets<T extends Json>(value: T): T {
  return masked(value) as T;
}

function masked(value: Json): Json {
  if (typeof value === 'string') return storable(maskSecrets(value));
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(masked);
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    inner === undefined ? inner : masked(inner),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}
