import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import type { Connection } from '../../../src/runtime/coordinator.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { policy, type Repository, repository } from './support.ts';

interface Asked {
  readonly approval_id: string;
  readonly shown_hash: string;
  readonly run_id: string;
}

/** A change that only a person decides, submitted by an agent and routed. */
async function waiting(place: Repository): Promise<Asked> {
  const commit = place.commit({ '.env': 'A=1' });
  assert.equal((await place.route(commit, ['.env'])).status, 'waiting_for_person');
  const { approvals } = await place.ask('list_approvals');
  const found = (approvals as JsonObject[]).filter(({ kind }) => kind === 'verification');
  assert.equal(found.length, 1);
  const [approval = {}] = found;
  assert.deepEqual(
    [approval.operation, approval.status, approval.requested_by],
    ['security-sensitive', 'pending', 'alice'],
  );
  return {
    approval_id: String(approval.approval_id),
    shown_hash: String(approval.shown_hash),
    run_id: `${commit}#security-sensitive`,
  };
}

const personOf = ({ coxswain }: Repository) =>
  coxswain.connect({ agent_id: 'person:ann', agent_type: 'person' }, 'person');

async function call(connection: Connection, name: string, input: JsonObject): Promise<JsonObject> {
  const operation = operationsByName.get(name);
  assert.ok(operation);
  return await connection.perform(operation, input);
}

async function runOf(place: Repository, run_id: string): Promise<unknown[]> {
  const [commit_sha] = run_id.split('#');
  const { runs } = await place.ask('verification_status', { commit_sha });
  const run = (runs as JsonObject[]).find((each) => each.run_id === run_id);
  return [run?.status, run?.decided_by];
}

async function approvalOf(place: Repository, approval_id: string): Promise<JsonObject> {
  return (await place.ask('show_approval', { approval_id })).approval as JsonObject;
}

/** The events of the commit that settled the run. */
async function settled({ coxswain }: Repository): Promise<string[]> {
  const { entries } = await coxswain.store.read('default', 0, 100);
  const events = ({ events: all }: LogEntry) => all.map(({ type }) => type);
  return (
    entries
      .map(events)
      .find((types) => types.some((type) => /^verification_(?:finished|approved)$/.test(type))) ?? []
  );
}

test('[VER-6] [APPR-1] what only a person decides waits among the approvals, with all there is to look at', async () => {
  await using place = await repository();
  const { approval_id, run_id } = await waiting(place);
  const { context, subject } = await approvalOf(place, approval_id);
  const { files, run_id: shown } = context as JsonObject;
  assert.deepEqual([files, shown], [['.env'], run_id]);
  assert.match(String(subject), /^security-sensitive: commit [0-9a-f]{12}, 1 files$/);
  const [commit_sha = ''] = run_id.split('#');
  await place.route(commit_sha, ['.env']);
  const { approvals } = await place.ask('list_approvals');
  assert.equal((approvals as JsonObject[]).length, 1, 'asked again, it is the same question');
});

test('[VER-6] approved, the run has passed in the same commit', async () => {
  await using place = await repository();
  const { approval_id, shown_hash, run_id } = await waiting(place);
  const own = await place.ask('approve', { approval_id, shown_hash });
  assert.equal(own.error, 'person_required');
  const said = await call(personOf(place), 'approve', { approval_id, shown_hash, reason: 'looked at it' });
  assert.deepEqual([said.status, said.outcome, said.run_id], ['approved', 'passed', run_id]);
  assert.deepEqual(await runOf(place, run_id), ['passed', 'person:ann']);
  assert.equal(
    (await approvalOf(place, approval_id)).status,
    'used',
    'nothing is left to be permitted by it',
  );
  assert.deepEqual(await settled(place), ['verification_finished', 'approval_approved', 'approval_used']);
});

test('[VER-6] denied, the run has failed in the same commit, and why is said', async () => {
  await using place = await repository();
  const { approval_id, run_id } = await waiting(place);
  const said = await call(personOf(place), 'deny_approval', { approval_id, reason: 'a key is in it' });
  assert.deepEqual([said.status, said.outcome, said.error_message], ['denied', 'failed', 'a key is in it']);
  assert.deepEqual(await runOf(place, run_id), ['failed', 'person:ann']);
  assert.deepEqual(await settled(place), ['verification_finished', 'approval_denied']);
  const late = await call(personOf(place), 'record_verification', { run_id, status: 'passed' });
  assert.equal(late.error, 'wrong_status');
});

for (const [status, left] of [
  ['passed', 'used'],
  ['failed', 'denied'],
] as const)
  test(`[VER-6] a person’s own result (${status}) settles the approval too`, async () => {
    await using place = await repository();
    const { approval_id, shown_hash, run_id } = await waiting(place);
    const told = await call(personOf(place), 'record_verification', { run_id, status });
    assert.equal(told.status, status);
    const { status: now, decided_by } = await approvalOf(place, approval_id);
    assert.deepEqual([now, decided_by], [left, 'person:ann']);
    assert.deepEqual((await place.ask('list_approvals')).approvals, []);
    const late = await call(personOf(place), 'approve', { approval_id, shown_hash });
    assert.equal(late.error, 'approval_decided');
    assert.deepEqual(await runOf(place, run_id), [status, 'person:ann']);
  });

test('[VER-6] where something is to be run, approved means that it may run', async () => {
  await using place = await repository();
  await place.policies(policy('true', { name: 'deploy-check', requires_approval: true }));
  const commit = place.commit({ 'a.txt': '' });
  await place.route(commit, ['a.txt']);
  const { approvals } = await place.ask('list_approvals');
  const [{ approval_id, shown_hash } = {}] = approvals as JsonObject[];
  const said = await call(personOf(place), 'approve', { approval_id, shown_hash });
  assert.deepEqual([said.status, said.outcome], ['approved', 'queued']);
  assert.deepEqual(await settled(place), ['verification_approved', 'approval_approved', 'approval_used']);
});
