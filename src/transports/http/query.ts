import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';
import { type Field, readJson, readNumber } from '../shared/input-fields.ts';

/**
 * A query string as an operation's input: types by the schema, lists repeated or with commas. What can't be
 * parsed stays text, for the schema to refuse by its name.
 */
export function readQuery(
  query: string,
  fields: readonly Field[],
): { ok: true; input: JsonObject } | { ok: false; refusal: Refusal } {
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  const entries: [string, Json][] = [];
  for (const [name, values] of given) {
    const field = fields.find((candidate) => candidate.name === name);
    if (values.length > 1 && field?.kind !== 'list')
      return { ok: false, refusal: invalid(shortened(name), 'to be given once') };
    const value = readValues(field, values);
    if (value === undefined) return { ok: false, refusal: invalid(name, 'JSON text') };
    entries.push([name, value]);
  }
  // From entries: `__proto__` becomes an ordinary field, and is refused like any unknown one.
  return { ok: true, input: Object.fromEntries(entries) };
}

function readValues(field: Field | undefined, values: readonly string[]): Json | undefined {
  const [first = ''] = values;
  switch (field?.kind) {
    case 'list':
      return values.flatMap((value) => value.split(',')).filter((value) => value !== '');
    case 'number':
      return readNumber(first);
    case 'boolean':
      return /^(true|1)$/.test(first) ? true : /^(false|0)$/.test(first) ? false : first;
    case 'json':
    case 'either':
      return readJson(field.kind, first);
    default:
      return first;
  }
}

function shortened(name: string): string {
  return name.slice(0, 100).replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}
