import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimEvent } from '../../src/features/claims/edge-claim.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, scratch } from '../transports/support.ts';
import { claimed, converged, write } from './support.ts';

const ON = { feature: 'FEAT-1', edge: 'design→code' };

/** What `cox log` says about these events, without time and position; the other two commands must stand them too. */
async function said(...events: [type: string, data: JsonObject][]): Promise<string[]> {
  using place = scratch();
  const coxswain = await open({ store: place.store, cwd: place.folder });
  await write(coxswain, 'anna', claimed('FEAT-1', 'design→code', 'anna'));
  for (const [type, data] of events) await write(coxswain, 'coxswain', claimEvent(ON, type, data));
  await write(coxswain, 'anna', converged('FEAT-1', 'design→code', 'anna'));
  await coxswain.close();
  const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store });
  for (const last of events.keys()) {
    const from = `#${last + 1}`;
    assert.equal(await main(['replay', '--at', from, '--kind', 'claim'], terminal), 0, written.err);
    assert.equal(await main(['diff', '--from', from, '--to', `#${last + 2}`], terminal), 0, written.err);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what must not be there.
  assert.doesNotMatch(written.out, /[\u0000-\u0009\u000b-\u001f\u202e\u2028]/);
  written.out = '';
  assert.equal(await main(['log'], terminal), 0, written.err);
  const lines = written.out.trimEnd().split('\n');
  return lines.map((line) => line.replace(/^\S+ \S+ +#\d+ +/, ''));
}

test('[AUD-5] every event of a claim is a sentence', async () => {
  const agent_id = 'anna';
  const lines = await said(
    ['claim_rejected', { agent_id: 'bert', reason: 'already claimed by anna', held_by: agent_id }],
    ['claim_renewed', { agent_id }],
    ['iteration_completed', { agent_id, iteration: 2, note: 'tests pass' }],
    ['claim_expired', { held_by: agent_id, seconds_idle: 1900 }],
    ['convergence_escalated', { agent_id, reason: 'not your edge', approval_id: 'ab12' }],
    ['review_completed', { decision: 'rejected', feedback: 'no tests', reviewed_by: 'person:eve' }],
    ['edge_released', { agent_id, reason: 'done for today', cause: 'holder' }],
    ['edge_released', { agent_id, reason: 'gone', released_by: 'person:eve', cause: 'person' }],
    ['edge_released', { agent_id, reason: 'silent', cause: 'stale' }],
  );
  assert.deepEqual(lines, [
    'anna works on design→code on FEAT-1 as full_stack',
    'bert can’t have design→code on FEAT-1: anna has it',
    'anna is still at design→code on FEAT-1',
    'anna did iteration 2 of design→code on FEAT-1: tests pass',
    'design→code on FEAT-1 is stale: nothing from anna for 1900 s',
    'design→code on FEAT-1 waits for a person: not your edge',
    'person:eve rejected design→code on FEAT-1: no tests',
    'design→code on FEAT-1 is free: anna: done for today',
    'design→code on FEAT-1 is free: person:eve: gone',
    'design→code on FEAT-1 is free: anna: silent',
    'anna finished design→code on FEAT-1 as full_stack',
  ]);
});

test('[AUD-5] events of others: fields that are missing, of another kind or hostile break no line', async () => {
  const odd: JsonObject[] = [
    {},
    { lease: {}, agent_role: 3, iteration: {} },
    {
      agent_id: 7,
      reason: ['x'],
      iteration: null,
      decision: {},
      approval_id: 5,
      held_by: [],
      evaluators: { a: 1 },
    },
    {
      agent_id: 'x\u001b[2J\ny',
      reason: '\u202eevil\r\n2026 forged line',
      feedback: '\u0007',
      note: '\u2028',
    },
  ];
  const types = [
    'edge_started',
    'claim_rejected',
    'iteration_completed',
    'edge_converged',
    'edge_released',
    'claim_expired',
    'convergence_escalated',
    'review_completed',
    'something_else',
  ];
  const lines = await said(...odd.flatMap((data) => types.map((type): [string, JsonObject] => [type, data])));
  assert.equal(lines.length, types.length * odd.length + 2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what must not be there.
  for (const line of lines) assert.match(line, /^[^\u0000-\u001f\u202e\u2028]+$/);
});
