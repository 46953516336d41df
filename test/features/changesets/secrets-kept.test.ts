import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { summarise } from '../../../src/runtime/audit-summary.ts';
import { open } from '../../../src/runtime/open.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-secrets-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const CORE = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYabcd';
/** Not even the beginning of it. */
const LEAK = CORE.slice(0, 6);
const TOKEN = ['gh', `p_${CORE}`].join('');
const task_id = '0192a000-0000-7000-8000-000000000001';
const diff = `--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+const token = '${TOKEN}';\n`;

/** Calls of agents that were careless with a secret, of which none gets anywhere: the log keeps that they were made. */
const CARELESS: readonly (readonly [operation: string, input: JsonObject])[] = [
  [
    'submit_work',
    { task_type: 't', task_description: `curl -H "Authorization: Bearer ${CORE}" x; git push --force` },
  ],
  [
    'submit_work',
    { task_type: 't', task_description: 'd', input_data: { run: `TOKEN=${TOKEN} git push --force` } },
  ],
  ['complete_work', { task_id, success: true, result: { diff } }],
  ['complete_work', { task_id, success: false, error_message: `401 with ${TOKEN}` }],
  ['complete_work', { task_id, success: true, result: { deep: { password: CORE, list: [TOKEN] } } }],
  ['release_lock', { file_path: `notes-${TOKEN}.md` }],
  ['cancel_work', { task_id, reason: `https://x:${CORE}@github.com leaked` }],
  ['cancel_work', { task_id, reason: `${'long '.repeat(58)}${TOKEN} ${'long '.repeat(50)}` }],
  ['complete_work', { task_id, success: true, result: { [TOKEN]: 1, note: `${'x'.repeat(4000)} ${TOKEN}` } }],
];

test('[GUARD-5] secrets in calls are neither in an answer nor anywhere in the store', async () => {
  const cox = await open({ store: `sqlite:${join(folder, 'store', 'cox.db')}`, cwd: folder, env: {} });
  const anna = cox.connect({ agent_id: 'anna', session_id: 'one' });
  for (const [name, input] of CARELESS) {
    const operation = operationsByName.get(name);
    assert.ok(operation !== undefined);
    const answer = await anna.perform(operation, input);
    assert.equal(answer.success, false, name);
    const isQuoted = name === 'release_lock';
    assert.ok(isQuoted || !JSON.stringify(answer).includes(LEAK), `${name}: ${JSON.stringify(answer)}`);
  }
  const rows = await anna.perform(operationsByName.get('query_audit') as never, { limit: 50 });
  assert.ok((rows.entries as JsonObject[]).length >= CARELESS.length);
  const leaking = (rows.entries as JsonObject[]).filter((row) => JSON.stringify(row).includes(LEAK));
  assert.deepEqual(leaking, []);
  await cox.close();
  const files = readdirSync(join(folder, 'store'));
  assert.ok(files.length > 0);
  for (const file of files)
    assert.ok(!readFileSync(join(folder, 'store', file)).includes(LEAK), `${file} holds the secret`);
});

test('a row keeps what is no secret as it was', () => {
  const parameters = {
    file_path: 'src/token.ts',
    reason: 'the token parser',
    ttl_minutes: 120,
    fencing_token: 7,
  };
  assert.deepEqual(summarise(parameters), parameters);
  assert.deepEqual(summarise({ result: { api_key: 'short', token: '', tokens: 3 } }), {
    result: { api_key: '***', token: '', tokens: 3 },
  });
  const long = String(summarise({ text: 'a'.repeat(10_000) }).text);
  assert.equal(long, `${'a'.repeat(300)}… (10000 characters)`);
});
