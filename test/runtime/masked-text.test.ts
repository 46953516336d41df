import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';

/** Made up, and put together here so that no scanner takes this file for a leak. */
const TOKEN = ['ghp', 'aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4'].join('_');
const SAID = `log in with ${TOKEN} first`;

const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['register_session', { current_task: SAID }],
  ['acquire_lock', { file_path: 'a.ts', reason: SAID }],
  ['submit_work', { task_type: 'test', task_description: SAID }],
  ['submit_work_batch', { tasks: [{ task_type: 'test', task_description: SAID }] }],
  ['send_message', { to: ['bob'], subject: SAID, body: SAID }],
  ['write_handoff', { summary: SAID, next_steps: [SAID], decisions: [SAID] }],
];

test('a credential in free text is masked before anything is kept, and the rest of the text stays', async () => {
  const coxswain = await open({ store: 'memory:' });
  const anna = coxswain.connect({ agent_id: 'anna', session_id: 'one' });
  for (const [name, input] of CALLS) {
    const operation = operationsByName.get(name);
    assert.ok(operation !== undefined, name);
    const answer = await anna.perform(operation, input);
    assert.equal(answer.success, true, `${name}: ${JSON.stringify(answer)}`);
  }
  const { entries } = await coxswain.store.read(coxswain.project, 0, 1000);
  const kept = JSON.stringify(entries);
  assert.ok(!kept.includes(TOKEN.slice(4)), 'it stands in the log');
  const events = JSON.stringify(entries.flatMap((entry) => entry.events));
  assert.ok((events.match(/log in with [^ ]+ first/g) ?? []).length >= 8, events);
  const bob = coxswain.connect({ agent_id: 'bob', session_id: 'two' });
  const read = operationsByName.get('read_inbox');
  assert.ok(read !== undefined);
  const { messages } = await bob.perform(read, {});
  assert.match(JSON.stringify(messages), /log in with [^ ]*\*\*\*[^ ]* first/);
  await coxswain.close();
});
