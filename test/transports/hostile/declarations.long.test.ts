import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { operations } from '../../../src/runtime/operation-list.ts';
import { temporaryFolder } from '../../chaos/crew.ts';

/** What agents and attackers send: wrong types, edges of every limit, and text that breaks stores and terminals. */
const nasty = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    ' ',
    '.',
    '..',
    '/',
    '../../etc/passwd',
    '/etc/passwd',
    'a\0b',
    '\ud800',
    '\u001b[2J',
    'x'.repeat(5000),
    'é'.repeat(500),
    '__proto__',
    'constructor',
    null,
    undefined,
    true,
    0,
    -1,
    1e9,
    1e308,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    0.5,
    Number.MAX_SAFE_INTEGER + 1,
    '00000000-0000-7000-8000-000000000000',
    [],
    {},
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.bigInt(),
  fc.array(fc.string(), { maxLength: 60 }),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }),
  fc.anything({ maxDepth: 4 }),
);

const plausible = fc.constantFrom<unknown>('src/a.ts', 'test', 'api:users', 5, true, '2026-11-15T12:00:00Z', [
  'a.ts',
]);

async function fieldsOf(index: number): Promise<string[]> {
  const schema = await operations[index]?.input();
  return Object.keys((schema?.json.properties ?? {}) as JsonObject);
}

for (const [index, operation] of operations.entries()) {
  test(`[LOCK-9] ${operation.name}: generated input is accepted or refused with the field; it never throws`, async () => {
    const schema = await operation.input();
    const names = await fieldsOf(index);
    const field = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...names, 'unknown') },
      { weight: 1, arbitrary: fc.string() },
    );
    const input = fc.oneof(
      {
        weight: 9,
        arbitrary: fc.dictionary(field, fc.oneof(nasty, plausible), { maxKeys: names.length + 1 }),
      },
      { weight: 1, arbitrary: nasty },
    );
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(input, (value) => {
        const parsed = schema.parse(value);
        if (parsed.ok) {
          accepted += 1;
          assert.doesNotThrow(() => JSON.stringify(parsed.value));
          return;
        }
        refused += 1;
        assert.equal(parsed.refusal.error, 'invalid_input');
        assert.ok(typeof parsed.refusal.field === 'string' && parsed.refusal.field.length > 0);
        assert.ok(typeof parsed.refusal.expected === 'string' && parsed.refusal.expected.length > 0);
        assert.doesNotMatch(
          JSON.stringify(parsed.refusal),
          /\\u001b|\\u0000/,
          'nothing a terminal would obey',
        );
      }),
      { numRuns: 2000 },
    );
    assert.ok(refused > 0);
    assert.equal(accepted + refused, 2000);
  });
}

test('[LOCK-1] a time to live of 0, -1, 10⁹ or NaN is refused with the range that would do', async () => {
  const coxswain = await open({ store: 'memory:' });
  const connection = coxswain.connect();
  const acquire = operations.find(({ name }) => name === 'acquire_lock');
  assert.ok(acquire);
  for (const ttl_minutes of [0, -1, 1e9, Number.NaN, '5', null]) {
    const refusal = await connection.perform(acquire, { file_path: 'a.ts', ttl_minutes });
    assert.equal(refusal.error, 'invalid_input');
    assert.equal(refusal.field, 'ttl_minutes');
  }
  assert.match(
    String((await connection.perform(acquire, { file_path: 'a.ts', ttl_minutes: 0 })).message),
    /480/,
  );
  const { loaded } = await coxswain.store.find('default', { keys: [{ kind: 'lock', id: 'a.ts' }] });
  assert.equal(loaded.get({ kind: 'lock', id: 'a.ts' }), undefined, 'nothing was written');
});

test('[QUEUE-5] generated calls on a live store: every answer is a value, every refusal says what to do', async () => {
  // Port blocks are kept on the machine, whatever the store is.
  using state = temporaryFolder();
  const coxswain = await open({ store: 'memory:', env: { COX_STATE_DIR: state.path } });
  const connection = coxswain.connect({ agent_id: 'fuzzer' });
  const choice = fc.constantFrom(...operations);
  await fc.assert(
    fc.asyncProperty(choice, fc.infiniteStream(fc.oneof(nasty, plausible)), async (operation, values) => {
      const schema = await operation.input();
      const input: Record<string, unknown> = {};
      for (const name of Object.keys((schema.json.properties ?? {}) as JsonObject))
        input[name] = values.next().value;
      const answer = await connection.perform(operation, input);
      assert.equal(typeof answer.success, 'boolean');
      if (answer.success === false) assert.ok(answer.message && answer.remedy, JSON.stringify(answer));
      assert.notEqual(answer.error, 'internal_error', JSON.stringify(answer));
    }),
    { numRuns: 1500 },
  );
  await coxswain.close();
});
