import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assignProfile } from '../../../src/features/trust/operations/change-profile-operations.ts';
import {
  recordVerification,
  startVerification,
} from '../../../src/features/verification/operations/verification-operations.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { main } from '../../../src/transports/cli/main.ts';
import { fakeTerminal } from '../../transports/support.ts';
import { type Repository, repository } from './support.ts';

async function cox(place: Repository, words: string[], env: Record<string, string> = {}) {
  const { terminal, written } = fakeTerminal(place.folder, {
    PATH: process.env.PATH ?? '',
    COX_STORE: place.store,
    ...env,
  });
  const code = await main([...words, '--json'], terminal);
  return { code, answer: JSON.parse(written.out) as JsonObject, err: written.err };
}

async function personKey(place: Repository): Promise<{ COX_PERSON_KEY: string }> {
  const { key } = await place.ask('create_key', { person: 'ann' });
  return { COX_PERSON_KEY: key as string };
}

const FILE = `policies:
  - { name: static-analysis, tier: 0, executor: inline, patterns: ["**"], command: "grep -q good a.txt" }
  - { name: unit-tests, tier: 1, executor: inline, patterns: ["**/*.ts"], command: "true" }
`;

test('[VER-3] [VER-9] cox verify: a commit is routed by what git says, verified here, and the exit code tells', async () => {
  await using place = await repository();
  place.commit({ 'a.txt': 'good' });
  writeFileSync(join(place.folder, 'verification.yaml'), FILE);
  const agent = await cox(place, ['verification', 'apply', 'verification.yaml']);
  assert.deepEqual([agent.code, agent.answer.error], [1, 'insufficient_trust_level']);
  const person = await personKey(place);
  const applied = await cox(place, ['verification', 'apply', 'verification.yaml'], person);
  assert.deepEqual([applied.code, applied.answer.changed], [0, ['static-analysis', 'unit-tests']]);
  const good = await cox(place, ['verify']);
  assert.deepEqual([good.code, good.answer.status, good.answer.files_from], [0, 'passed', 'git']);
  const bad = place.commit({ 'a.txt': 'bad' });
  const failed = await cox(place, ['verify', bad.slice(0, 8)]);
  assert.deepEqual([failed.code, failed.answer.status, failed.answer.commit_sha], [1, 'failed', bad]);
  assert.equal((await cox(place, ['verify', '--force'])).answer.error, 'person_required');
  const forced = await cox(place, ['verify', '--force'], person);
  assert.deepEqual([forced.code, forced.answer.status], [1, 'failed']);
  assert.equal((await cox(place, ['verify', 'no-such-branch'])).code, 2);
  assert.equal((await cox(place, ['verify', '--upload-pack=x'])).code, 2);
});

test('[VER-6] what waits for a person ends with 3, and a person’s word is its result', async () => {
  await using place = await repository();
  place.commit({ 'a.txt': '' });
  const person = await personKey(place);
  writeFileSync(join(place.folder, 'verification.yaml'), FILE);
  await cox(place, ['verification', 'apply', 'verification.yaml'], person);
  const commit = place.commit({ 'a.txt': 'good', '.env': 'A=1' });
  const waiting = await cox(place, ['verify']);
  assert.deepEqual([waiting.code, waiting.answer.status], [3, 'waiting_for_person']);
  const run_id = `${commit}#security-sensitive`;
  const own = await cox(place, ['verification', 'record', run_id, '--status', 'passed']);
  assert.equal(own.answer.error, 'forbidden');
  const ann = place.coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');
  const said = await ann.perform(recordVerification, { run_id, status: 'passed', output: 'looked at it' });
  assert.deepEqual([said.status, said.decided_by], ['passed', 'person:ann']);
  assert.equal((await cox(place, ['verify'])).code, 0);
});

test('[VER-1] a file with mistakes is refused with all of them, and nothing is changed', async () => {
  await using place = await repository();
  place.commit({ 'a.txt': '' });
  writeFileSync(
    join(place.folder, 'bad.yaml'),
    FILE.replace('tier: 0', 'tier: nine').replace('tier: 1', 'tier: 8'),
  );
  const { code, answer } = await cox(place, ['verification', 'apply', 'bad.yaml'], await personKey(place));
  assert.equal(code, 2);
  assert.deepEqual(
    (answer.errors as JsonObject[]).map(({ line, field }) => [line, field]),
    [
      [2, 'policies.0.tier'],
      [3, 'policies.1.tier'],
    ],
  );
  const { policies } = await place.ask('list_verification_policies');
  assert.ok((policies as JsonObject[]).every(({ source }) => source === 'shipped'));
});

test('[VER-1] [PROF-7] policies are changed by a person, or at the trust that a person gave', async () => {
  await using place = await repository();
  const person = place.coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');
  const assign = { to_agent: 'boss', profile: 'strands-orchestrator' };
  assert.equal((await person.performBuilt(assignProfile, assign)).success, true);
  const policy = { name: 'checks', tier: 2, executor: 'inline', patterns: ['**'], command: 'true' };
  const asked = async (name: string, input: JsonObject, who: string) => {
    const { success, error } = await place.ask(name, input, who);
    return success === true ? 'done' : error;
  };
  for (const [name, input] of [
    ['set_verification_policy', policy],
    ['remove_verification_policy', { name: 'checks' }],
  ] as const) {
    assert.equal(await asked(name, input, 'alice'), 'insufficient_trust_level');
    assert.equal(await asked(name, input, 'boss'), 'done');
  }
});

test('an executor of one’s own takes a run and reports with the secret that only it has', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.ts': '' });
  await place.route(commit, ['a.ts']);
  const run_id = `${commit}#unit-tests`;
  const person = place.coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');
  const started = await person.perform(startVerification, { run_id });
  assert.match(String(started.secret), /^[\w-]{43}$/);
  const report = { run_id, status: 'passed', secret: started.secret, output: 'API_TOKEN=abcdefgh123' };
  const told = await place.ask('record_verification', report);
  assert.deepEqual([told.status, told.output], ['passed', 'API_TOKEN=***']);
  const log = JSON.stringify(await place.ask('query_audit', { limit: 50 }));
  assert.ok(!log.includes(String(started.secret)) && !log.includes('abcdefgh123'));
});
