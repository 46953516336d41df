import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { personsTerminal } from './person.ts';
import { fakeTerminal, makeStore, type Scratch, scratch } from './support.ts';

async function typed(place: Scratch, agent: string | undefined, words: readonly string[], role?: string) {
  // An empty variable is one that is not there.
  const env = { COX_STORE: place.store, AGENT_ID: agent ?? '', AGENT_ROLE: role ?? '' };
  const { terminal, written } = fakeTerminal(place.folder, env);
  const code = await main([...words], terminal);
  return { code, ...written };
}

async function asked(place: Scratch, agent: string | undefined, words: readonly string[], role?: string) {
  const { code, out } = await typed(place, agent, [...words, '--json'], role);
  return { code, answer: JSON.parse(out) as JsonObject };
}

test('[CLAIM-1] two terminals: one has it, the other is told who, and goes away with exit code 1', async () => {
  using place = scratch();
  const first = await typed(place, 'ann', ['claim', 'take', 'F-1', 'design→code'], 'architect');
  assert.equal(first.code, 0);
  assert.match(first.out, /^ann works on F-1, design→code as architect\.\n/);
  const second = await typed(place, 'ben', ['claim', 'take', 'F-1', 'Design-Code']);
  assert.equal(second.code, 1);
  assert.match(second.err, /claim_rejected: design→code on F-1 is already claimed by ann\./);
  assert.match(second.err, /→ Take the suggestion/);
});

test('[CLAIM-5] what waits for a person ends with exit code 3; approved, it has converged', async () => {
  using place = scratch();
  await typed(place, 'ann', ['claim', 'take', 'F-1', 'design_code'], 'architect');
  const { code, answer } = await asked(
    place,
    'ann',
    ['claim', 'converge', 'F-1', 'design_code'],
    'architect',
  );
  assert.deepEqual([code, answer.action], [3, 'convergence_escalated']);
  const approval_id = String(answer.approval_id);
  const status = await typed(place, undefined, ['status']);
  assert.ok(status.out.includes(`cox approve ${approval_id}`), status.out);
  assert.match(status.out, /Edges {2}1 claimed\n +F-1 +design_code +ann +architect .*waits for a person/);
  const env = { COX_STORE: place.store };
  const person = personsTerminal(place.folder, env, approval_id);
  assert.equal(await main(['approve', approval_id], person.terminal), 0, person.written.err);
  assert.match(person.written.out, /outcome +converged/);
  const { answer: after } = await asked(place, 'ann', ['claim', 'status']);
  assert.deepEqual([after.claims, after.escalations], [[], []]);
});

test('[CLAIM-4] a stale claim is shown with the command that a person needs, and released by it', async () => {
  using place = scratch();
  const old = await open({ store: place.store, cwd: place.folder });
  const gone = await asked(place, 'ann', ['claim', 'take', 'F-1', 'design_code']);
  assert.equal(gone.code, 0);
  await old.close();
  const early = personsTerminal(place.folder, { COX_STORE: place.store }, 'F-1');
  const words = ['claim', 'resolve', 'F-1', 'design_code', 'release'];
  assert.equal(await main([...words], early.terminal), 1);
  assert.match(early.written.err, /claim_not_stale: ann gave a sign/);
  const person = personsTerminal(place.folder, { COX_STORE: place.store }, 'F-1');
  assert.equal(await main([...words, '--even-if-active', '--reason', 'unplugged'], person.terminal), 0);
  assert.equal((await asked(place, 'ben', ['claim', 'take', 'F-1', 'design_code'])).code, 0);
});

test('[CLAIM-6] alone and without a name: primary, no claim step; AGENT_ID gives it one', async () => {
  using place = scratch();
  assert.equal((await typed(place, undefined, ['claim', 'mode', 'single'])).code, 0);
  const words = ['claim', 'converge', 'F-1', 'design_code', '--evaluators', '2/2'];
  const { code, answer } = await asked(place, undefined, words);
  assert.deepEqual([code, answer.agent_id, answer.agent_role], [0, 'primary', 'full_stack']);
  const named = await asked(place, undefined, ['claim', 'heartbeat', 'F-2', 'x', '--agent', 'ann']);
  assert.deepEqual(
    [named.code, named.answer.error],
    [1, 'edge_not_started'],
    'a second live agent: many now',
  );
  const { answer: status } = await asked(place, undefined, ['claim', 'status']);
  assert.equal(status.mode, 'single', 'who was refused has changed nothing');
});

test('[CLAIM-6] where nothing is configured one command converges; the next agent finds a project of many', async () => {
  using place = scratch();
  const words = ['claim', 'converge', 'F-1', 'design_code', '--evaluators', '2/2'];
  await makeStore(place);
  assert.equal((await asked(place, undefined, ['claim', 'status'])).answer.mode, 'single');
  const { code, answer } = await asked(place, undefined, words);
  assert.deepEqual([code, answer.agent_id, answer.agent_role], [0, 'primary', 'full_stack']);
  const held = await asked(place, undefined, ['claim', 'take', 'F-2', 'design_code']);
  assert.equal(held.answer.agent_id, 'primary');
  assert.equal((await asked(place, 'ann', ['claim', 'take', 'F-3', 'design_code'])).code, 0);
  const status = (await asked(place, undefined, ['claim', 'status'])).answer;
  assert.equal(status.mode, 'many');
  assert.equal((await asked(place, undefined, ['claim', 'converge', 'F-2', 'design_code'])).code, 0);
});

test('[CLAIM-1] what is no name is refused by its field; escapes never reach a terminal', async () => {
  using place = scratch();
  for (const [feature, edge, field] of [
    ['F\u001b[2J', 'x', 'feature'],
    ['F', '→', 'edge'],
    ['F', '_-_', 'edge'],
    ['F'.repeat(201), 'x', 'feature'],
    ['F', 'x'.repeat(101), 'edge'],
  ] as const) {
    const { code, answer } = await asked(place, 'ann', ['claim', 'take', feature, edge]);
    assert.deepEqual([code, answer.error, answer.field], [2, 'invalid_input', field]);
  }
  await typed(place, 'ann', ['claim', 'take', 'F', 'x']);
  await typed(place, 'ann', [
    'claim',
    'heartbeat',
    'F',
    'x',
    '--iteration',
    '1',
    '--note',
    '\u001b[2J\u0007',
  ]);
  const { out } = await typed(place, 'ann', ['watch', '--once', '--since', '0']);
  assert.match(out, /ann did iteration 1 of x on F/);
  assert.ok(!out.includes('\u001b[2J'));
});
