import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesetEvent } from '../../../src/features/changesets/state.ts';
import { profileNamed, rulebookEvent } from '../../../src/features/trust/rulebook.ts';
import {
  concludeRemote,
  decideRun,
  finishRun,
  recordRun,
  renewRun,
  startRun,
} from '../../../src/features/verification/execute.ts';
import {
  removeVerificationPolicy,
  setVerificationPolicies,
} from '../../../src/features/verification/policy-book.ts';
import { routeChangeset } from '../../../src/features/verification/route-changeset.ts';
import { testsNeeds, testsPassed } from '../../../src/features/verification/tests-passed.ts';
import { type RunState, runsOfCommit } from '../../../src/features/verification/verification-run.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import type { TrustLevel } from '../../../src/runtime/access.ts';
import { type Fact, fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';

const SHA = 'a'.repeat(40);
const ID = '0192a000-0000-7000-8000-000000000001';
const alice = { agent_id: 'alice', agent_type: 'test', session_id: 's' };
const runner = (name: string) => ({ agent_id: name, agent_type: 'verifier', session_id: name });
const DEFAULT = profileNamed(undefined, 'default');
const LATER_MS = NOON_MS + MINUTE_MS;

const made = (files: string[], commit_sha: string | undefined = SHA) =>
  fact(NOON_MS, changesetEvent(ID, alice, { files, commit_sha }));
/** A profile of its own, which only a person gives. */
const trust = (trust_level: TrustLevel) => [
  fact(
    NOON_MS,
    rulebookEvent('profile_set', {
      profile: { ...DEFAULT, name: 'own', trust_level } as unknown as JsonObject,
    }),
  ),
  fact(NOON_MS, rulebookEvent('profile_assigned', { agent_id: 'alice', profile: 'own' })),
];
const routed = (...facts: Fact[]) =>
  given(...facts)
    .at(NOON_MS)
    .when(routeChangeset({ changeset_id: ID, is_person: false }));
const statuses = (answer: JsonObject) =>
  (answer.runs as JsonObject[]).map(({ policy, status }) => `${policy} ${status}`);

const unit = `${SHA}#unit-tests`;
const begun = () => routed(made(['a.ts']));
const start = (name: string, run_id = unit) =>
  startRun({ run_id, caller: runner(name), executor: 'inline', ttl_ms: MINUTE_MS });

function passed(facts: readonly Fact[]): boolean {
  const loaded = new LoadedSet();
  load(folded(facts), testsNeeds(SHA), loaded);
  return testsPassed(loaded, SHA);
}

test('[VER-2] routing gives each policy that applies one run for the commit, however often it is asked for', () => {
  const first = begun();
  assert.deepEqual(statuses(first.answer), ['static-analysis queued', 'unit-tests queued']);
  const again = routed(...first.facts);
  again.thenCommits();
  assert.deepEqual(statuses(again.answer), statuses(first.answer));
});

test('[VER-8] the trust of whoever made the change decides, not of whoever asks', () => {
  assert.deepEqual(statuses(routed(...trust(0), made(['README.md'])).answer), [
    'untrusted-change waiting_for_person',
  ]);
  assert.deepEqual(statuses(routed(...trust(3), made(['a.ts'])).answer), [
    'static-analysis skipped',
    'unit-tests skipped',
  ]);
});

test('[VER-8] what was skipped for one author is run when another one has the same commit', () => {
  const skipped = routed(...trust(3), made(['a.ts'])).facts;
  assert.deepEqual(statuses(routed(...skipped, ...trust(2)).answer), [
    'static-analysis queued',
    'unit-tests queued',
  ]);
});

test('[VER-2] a retry never runs a tier twice for a commit: results stay, only a person has them made anew', () => {
  const started = given(...begun().facts)
    .at(NOON_MS)
    .when(start('r1'));
  const token = started.answer.fencing_token as number;
  const result = { status: 'failed', exit_code: 1, output: 'red' } as const;
  const ended = given(...started.facts)
    .at(LATER_MS)
    .when(finishRun(unit, { ...runner('r1'), token }, result));
  given(...ended.facts)
    .at(LATER_MS)
    .when(start('r2'))
    .thenRefuses('wrong_status');
  const again = routed(...ended.facts);
  assert.deepEqual(statuses(again.answer), ['static-analysis queued', 'unit-tests failed']);
  const ask = (is_person: boolean) =>
    given(...ended.facts)
      .at(LATER_MS)
      .when(routeChangeset({ changeset_id: ID, force: true, is_person }));
  ask(false).thenRefuses('forbidden');
  assert.deepEqual(statuses(ask(true).answer), ['static-analysis queued', 'unit-tests queued']);
});

test('a dead runner’s run is taken over, and what it says afterwards counts for nothing', () => {
  const first = given(...begun().facts)
    .at(NOON_MS)
    .when(start('r1'));
  const stale = { ...runner('r1'), token: first.answer.fencing_token as number };
  given(...first.facts)
    .at(LATER_MS - 1)
    .when(start('r2'))
    .thenRefuses('wrong_status');
  const second = given(...first.facts)
    .at(LATER_MS)
    .when(start('r2'));
  const after = given(...second.facts).at(LATER_MS);
  after.when(finishRun(unit, stale, { status: 'passed' })).thenRefuses('superseded');
  after.when(renewRun(unit, stale, MINUTE_MS)).thenRefuses('superseded');
  // A run that kills its runner is not tried for ever.
  const third = given(...second.facts)
    .at(LATER_MS + MINUTE_MS)
    .when(start('r3'));
  const given_up = given(...third.facts)
    .at(LATER_MS + 2 * MINUTE_MS)
    .when(start('r4'));
  assert.deepEqual([given_up.answer.started, given_up.answer.status], [undefined, 'error']);
});

test('[VER-6] only a person decides what waits for one; approved, it passes or is run', () => {
  const waiting = routed(made(['.env'])).facts;
  const run_id = `${SHA}#security-sensitive`;
  given(...waiting)
    .at(NOON_MS)
    .when(start('r1', run_id))
    .thenRefuses('wrong_status');
  const denied = given(...waiting)
    .at(NOON_MS)
    .when(decideRun(run_id, false, 'person:bob', 'a key is in it'));
  assert.deepEqual([denied.answer.status, denied.answer.decided_by], ['failed', 'person:bob']);
  given(...denied.facts)
    .at(NOON_MS)
    .when(decideRun(run_id, true, 'person:eve', 'no'))
    .thenRefuses('wrong_status');
});

test('a result from elsewhere needs the run’s secret, and is told once', () => {
  const begin = startRun({
    run_id: unit,
    caller: runner('ci'),
    executor: 'inline',
    ttl_ms: MINUTE_MS,
    secret_hash: 'hash',
  });
  const started = given(...begun().facts)
    .at(NOON_MS)
    .when(begin).facts;
  given(...started)
    .at(NOON_MS)
    .when(recordRun(unit, 'other', { status: 'passed' }))
    .thenRefuses('forbidden');
  const told = given(...started)
    .at(NOON_MS)
    .when(recordRun(unit, 'hash', { status: 'passed' }));
  assert.equal(told.answer.status, 'passed');
  given(...told.facts)
    .at(NOON_MS)
    .when(recordRun(unit, 'hash', { status: 'failed' }))
    .thenRefuses('forbidden');
  // A run without a secret has none that could be guessed.
  const plain = given(...begun().facts)
    .at(NOON_MS)
    .when(start('r1')).facts;
  given(...plain)
    .at(NOON_MS)
    .when(recordRun(unit, undefined as unknown as string, { status: 'passed' }))
    .thenRefuses('forbidden');
});

test('[VER-4] GitHub’s word counts for the workflow, the repository and the commit that were meant', () => {
  const outcome = {
    repository: 'o/r',
    workflow: 'cox-verify.yml',
    head_sha: SHA,
    result: { status: 'passed' },
  } as const;
  const at = given(...begun().facts).at(NOON_MS);
  at.when(concludeRemote(unit, { ...outcome, workflow: 'other.yml' })).thenRefuses('wrong_status');
  at.when(concludeRemote(unit, { ...outcome, head_sha: 'b'.repeat(40) })).thenRefuses('wrong_status');
  at.when(concludeRemote(`${SHA}#static-analysis`, outcome)).thenRefuses('wrong_status');
  assert.equal(at.when(concludeRemote(unit, outcome)).answer.status, 'passed');
  const on = (branch: string) => ({ ...outcome, dispatched: { branch, default_branch: 'main' } });
  for (const branch of ['feature', '']) at.when(concludeRemote(unit, on(branch))).thenRefuses('wrong_status');
  assert.equal(at.when(concludeRemote(unit, on('main'))).answer.status, 'passed');
});

test('[VER-2] what git saw can’t be talked away by asking again', () => {
  const first = given(made(['README.md']))
    .at(NOON_MS)
    .when(
      routeChangeset({
        changeset_id: ID,
        is_person: false,
        seen: { files: ['README.md', 'db/migrations/1.sql'], from: 'git' },
      }),
    );
  assert.deepEqual(first.answer.undeclared_files, ['db/migrations/1.sql']);
  const again = routed(...first.facts);
  again.thenCommits();
  assert.deepEqual(statuses(again.answer), statuses(first.answer));
});

test('[VER-1] policies are replaced by name, and stay removed', () => {
  const policy = {
    name: 'unit-tests',
    tier: 1,
    executor: 'inline',
    patterns: ['src/**'],
    exclude_patterns: [],
    required_environment: [],
    timeout_seconds: 5,
    requires_approval: false,
  } as const;
  const set = given()
    .at(NOON_MS)
    .when(setVerificationPolicies([policy], 'ann'));
  assert.deepEqual(set.answer.changed, ['unit-tests']);
  given(...set.facts)
    .at(NOON_MS)
    .when(setVerificationPolicies([policy], 'ann'))
    .thenCommits();
  const removed = given(...set.facts)
    .at(NOON_MS)
    .when(removeVerificationPolicy('unit-tests', 'ann'));
  assert.deepEqual(statuses(routed(...removed.facts, ...trust(2), made(['src/a.ts'])).answer), [
    'static-analysis queued',
  ]);
  const reserved = { ...policy, name: 'untrusted-change' };
  given()
    .at(NOON_MS)
    .when(setVerificationPolicies([reserved], 'ann'))
    .thenRefuses('invalid_input');
});

test('[GUARD-10] test_required: tests of exactly this commit have passed, and none says otherwise', () => {
  const facts = begun().facts;
  assert.equal(passed(facts), false);
  const finish = (id: string, status: 'passed' | 'failed', before: readonly Fact[]) => {
    const started = given(...before)
      .at(NOON_MS)
      .when(start('r', id));
    const token = started.answer.fencing_token as number;
    return given(...started.facts)
      .at(NOON_MS)
      .when(finishRun(id, { ...runner('r'), token }, { status })).facts;
  };
  assert.equal(passed(finish(`${SHA}#static-analysis`, 'passed', facts)), false, 'linting is no test');
  assert.equal(passed(finish(unit, 'failed', facts)), false);
  assert.equal(passed(finish(unit, 'passed', facts)), true);
  const more = routed(made(['a.ts', 'db/migrations/1.sql'])).facts;
  assert.equal(passed(finish(unit, 'passed', more)), false, 'one of the tests has not run');
  const found = new LoadedSet();
  const range = runsOfCommit(SHA, 50);
  load(folded(more), { ranges: [range] }, found);
  assert.equal(found.list<RunState>(range).length, 3);
});
