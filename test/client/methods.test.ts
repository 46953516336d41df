import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { wireText } from '../../scripts/client-wire.ts';
import { methodName } from '../../src/client/method-names.ts';
import { wire } from '../../src/client/wire.ts';
import { connect } from '../../src/index.ts';
import { declarations, operations } from '../../src/runtime/operation-list.ts';

test('client: what it knows of the wire is what the declarations say', async () => {
  const written = readFileSync(new URL('../../src/client/wire.ts', import.meta.url), 'utf8');
  assert.equal(written, await wireText(), 'run `node scripts/client-wire.ts`');
});

test('client: each declaration stands under the name of its method', () => {
  for (const [method, { name }] of Object.entries(declarations)) assert.equal(methodName(name), method);
});

test('client: local and remote have one method per operation and nothing else', async () => {
  await using local = await connect({ store: 'memory:', agent_id: 'alice' });
  await using remote = await connect({ url: 'http://localhost:1', agent_id: 'alice' });
  const expected = [...operations.map(({ name }) => methodName(name)), 'actor', 'call', 'close'].sort();
  assert.deepEqual(Object.keys(local).sort(), expected);
  assert.deepEqual(Object.keys(remote).sort(), expected);
  // An object that has `then` would be taken for a promise by `await`.
  assert.equal('then' in remote, false);
});

test('client: what can be repeated after a lost answer', () => {
  assert.equal(wire.acquire_lock?.repeats, 'by_id');
  assert.equal(wire.check_locks?.repeats, 'freely');
  for (const { name, mutates, repeatable, machine } of operations)
    if (mutates && !(repeatable && machine)) assert.notEqual(wire[name]?.repeats, 'freely', name);
});
