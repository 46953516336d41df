import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';

/** One of each kind, too small, too large, of no form. */
const WRONG: readonly Json[] = [
  -1,
  0,
  0.5,
  1e15,
  '',
  'no such thing',
  'x'.repeat(70_000),
  null,
  true,
  {},
  [],
];
const MANY = Array.from({ length: 10_001 }, () => 'a');

test('[HTTP-5] [CLI-1] what is expected is said as what would do, for every field of every operation', async () => {
  let refused = 0;
  for (const { name, input } of operations) {
    const { json, parse } = await input();
    const fields = Object.keys((json.properties ?? {}) as JsonObject);
    for (const field of fields)
      for (const value of [...WRONG, MANY, [''], [-1], [{}]]) {
        const read = parse({ [field]: value });
        if (read.ok) continue;
        refused += 1;
        const { expected, message } = read.refusal;
        assert.doesNotMatch(
          String(expected),
          /^(?:Too|Invalid|Unrecognized|Unrecognised)\b/,
          `${name}.${field}`,
        );
        assert.doesNotMatch(message, /expected (?:Too|Invalid)/, `${name}.${field}`);
      }
  }
  assert.ok(refused > 1000, `${refused}`);
});
