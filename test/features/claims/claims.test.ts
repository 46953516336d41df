import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimCommand } from '../../../src/features/claims/acting.ts';
import {
  claimEdge,
  convergeEdge,
  heartbeatClaim,
  releaseEdge,
} from '../../../src/features/claims/commands.ts';
import { normEdge } from '../../../src/features/claims/edge.ts';
import { type ClaimState, claimEntity, claimId, NEVER_MS } from '../../../src/features/claims/edge-claim.ts';
import { given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { ABOUT, agent, by, RULES, told, under } from './claim-facts.ts';

const LATER_MS = NOON_MS + 5 * MINUTE_MS;
const TTL = { ...RULES, ttl_ms: 60 * MINUTE_MS };

/** Alice has it since noon. */
const claimed = (command: ClaimCommand = by('alice', 'architect')) =>
  given().at(NOON_MS).when(claimEdge(command)).facts;
const state = (facts: ReturnType<typeof claimed>) =>
  given(...facts)
    .at(LATER_MS)
    .when(claimEdge(by('nobody')))
    .after.get(`claim/${claimId(ABOUT.feature, ABOUT.edge)}`)?.state as unknown as ClaimState;

test('[CLAIM-1] a free edge is started; the claim itself is no event', () => {
  given()
    .at(NOON_MS)
    .when(claimEdge(by('alice', 'architect')))
    .thenCommits(told('edge_started', { granted_to: 'alice', agent_role: 'architect', source: 'serialiser' }))
    .answering({
      success: true,
      action: 'edge_started',
      ...ABOUT,
      agent_id: 'alice',
      agent_role: 'architect',
      fencing_token: NOON_MS,
      expires_at: null,
    })
    .notAfter(undefined);
});

test('[CLAIM-1] what another holds is rejected with the holder and the reason, and that is in the log', () => {
  const rejected = given(...claimed())
    .at(LATER_MS)
    .when(claimEdge(by('bob', 'tdd_engineer')))
    .thenCommits(
      told('claim_rejected', {
        agent_id: 'bob',
        agent_role: 'tdd_engineer',
        reason: 'already claimed by alice',
        held_by: 'alice',
      }),
    )
    .answering({
      success: false,
      action: 'claim_rejected',
      reason: 'already claimed by alice',
      held_by: 'alice',
      held_role: 'architect',
      stale: false,
    });
  const after = rejected.after.get('claim/REQ-F-1#design_code')?.state as unknown as ClaimState;
  assert.equal(after.lease?.agent_id, 'alice');
  assert.equal(after.last_active_ms, NOON_MS, 'a rejection is no sign of its holder');
});

test('[CLAIM-1] whoever waits for it leaves no rejection on the way', () => {
  given(...claimed())
    .at(LATER_MS)
    .when(claimEdge({ ...by('bob'), tentative: true }))
    .thenRefuses('claim_rejected', { held_by: 'alice' });
});

test('[CLAIM-2] however it is written, an edge is one claim', () => {
  for (const edge of [
    'design→code',
    'Design -> Code',
    'design-code',
    ' DESIGN_CODE ',
    'design#code',
    'design=>code',
  ])
    given(...claimed())
      .at(LATER_MS)
      .when(claimEdge(by('bob', undefined, { edge })))
      .answering({ action: 'claim_rejected', held_by: 'alice' });
  assert.notEqual(claimId('a#b', 'c'), claimId('a', 'b#c'), 'a # parts the two whatever they are called');
  assert.equal(normEdge('code↔unit_tests'), 'code_unit_tests');
});

test('[CLAIM-2] others are not touched by it', () => {
  given(...claimed())
    .at(LATER_MS)
    .when(claimEdge(by('bob', undefined, { edge: 'code_unit_tests' })))
    .answering({ action: 'edge_started' });
  given(...claimed())
    .at(LATER_MS)
    .when(claimEdge(by('bob', undefined, { feature: 'req-f-1' })))
    .answering({ action: 'edge_started' });
});

test('[CLAIM-1] the holder claiming again keeps its grant; in another session of its own it is a new one', () => {
  given(...claimed())
    .at(LATER_MS)
    .when(claimEdge(by('alice', 'architect')))
    .thenCommits(told('claim_renewed', { agent_id: 'alice' }))
    .answering({ action: 'edge_started', renewed: true, fencing_token: NOON_MS });
  given(...claimed())
    .at(LATER_MS)
    .when(claimEdge(by('alice', 'architect', { caller: { ...agent('alice'), session_id: 'alice-2' } })))
    .answering({ renewed: true, fencing_token: LATER_MS });
});

test('[CLAIM-3] a convergence frees it in the same step, and another gets it at once', () => {
  const converged = given(...claimed())
    .at(LATER_MS)
    .when(convergeEdge({ ...by('alice'), evaluators: '3/3', iteration: 4, convergence_type: 'standard' }))
    .thenCommits(
      told('edge_converged', {
        agent_id: 'alice',
        agent_role: 'architect',
        evaluators: '3/3',
        iteration: 4,
        convergence_type: 'standard',
      }),
    )
    .answering({ success: true, action: 'edge_converged', agent_role: 'architect' });
  given(...converged.facts)
    .at(LATER_MS)
    .when(claimEdge(by('bob', 'architect')))
    .thenCommits(told('edge_started', { granted_to: 'bob' }))
    .answering({ warnings: [`alice has converged it at ${new Date(LATER_MS).toISOString()}.`] });
});

test('[CLAIM-3] only the holder ends a claim, by its own grant', () => {
  for (const end of [releaseEdge, convergeEdge, heartbeatClaim]) {
    given(...claimed())
      .at(LATER_MS)
      .when(end(by('bob', 'full_stack')))
      .thenRefuses('not_holder', { held_by: 'alice' });
    given(...claimed())
      .at(LATER_MS)
      .when(end(under(NOON_MS, by('bob', 'full_stack'))))
      .thenRefuses('not_holder');
    given(...claimed())
      .at(LATER_MS)
      .when(end(under(NOON_MS - 1, by('alice'))))
      .thenRefuses('superseded', { fencing_token: NOON_MS });
  }
});

test('[CLAIM-3] a holder that comes back after it was given to another changes nothing', () => {
  const moved = given(...claimed())
    .at(NOON_MS + 1)
    .when(releaseEdge(by('alice')))
    .thenCommits(told('edge_released', { agent_id: 'alice', released_by: 'alice', cause: 'holder' })).facts;
  const bobs = given(...moved)
    .at(NOON_MS + 2)
    .when(claimEdge(by('bob', 'architect'))).facts;
  for (const end of [releaseEdge, convergeEdge, heartbeatClaim])
    given(...bobs)
      .at(LATER_MS)
      .when(end(under(NOON_MS, by('alice'))))
      .thenRefuses('superseded', { held_by: 'bob' });
});

test('[CLAIM-3] nothing is converged, renewed or released that nobody started', () => {
  given()
    .at(NOON_MS)
    .when(convergeEdge(by('alice', 'full_stack')))
    .thenRefuses('edge_not_started', ABOUT);
  given()
    .at(NOON_MS)
    .when(heartbeatClaim(by('alice')))
    .thenRefuses('edge_not_started');
  given()
    .at(NOON_MS)
    .when(releaseEdge(by('alice')))
    .thenRefuses('not_held');
});

test('[CLAIM-3] the role is checked at release and at convergence, not only at the claim', () => {
  for (const end of [releaseEdge, convergeEdge])
    given(...claimed(by('alice', 'tdd_engineer')))
      .at(LATER_MS)
      .when(end(by('alice', 'full_stack')))
      .thenRefuses('role_mismatch', { agent_role: 'tdd_engineer' });
  const bound = { ...RULES, agents: { alice: 'architect' } };
  given()
    .at(NOON_MS)
    .when(claimEdge(by('alice', 'full_stack', { rules: bound })))
    .thenRefuses('role_mismatch', { agent_role: 'architect' });
  given()
    .at(NOON_MS)
    .when(claimEdge(by('alice', undefined, { rules: bound })))
    .answering({ agent_role: 'architect' });
});

test('[CLAIM-3] evaluators that failed, or that are required and missing, keep it where it is', () => {
  const edge = 'code_unit_tests';
  const mine = by('alice', 'tdd_engineer', { edge });
  const start = given().at(NOON_MS).when(claimEdge(mine)).facts;
  const converging = (evaluators: Parameters<typeof convergeEdge>[0]['evaluators']) =>
    given(...start)
      .at(LATER_MS)
      .when(convergeEdge({ ...mine, evaluators }));
  const [unit, lint] = [
    { name: 'unit', passed: true },
    { name: 'lint', passed: true },
  ];
  converging([unit, { ...lint, passed: false }]).thenRefuses('evaluators_failed', {
    evaluators: '1/2',
    failed: ['lint'],
    missing: [],
  });
  converging([unit]).thenRefuses('evaluators_failed', { missing: ['lint'] });
  converging('1/2').thenRefuses('evaluators_failed', { evaluators: '1/2' });
  converging('2/2').thenRefuses('evaluators_failed', { missing: ['unit', 'lint'] });
  converging(undefined).thenRefuses('evaluators_failed');
  converging([unit, lint, { ...unit, passed: false }]).thenRefuses('evaluators_failed', { failed: ['unit'] });
  converging([unit, lint]).answering({ action: 'edge_converged', evaluators: '2/2' });
});

test('[CLAIM-11] a sign of the holder renews its activity and its time, nobody else’s does', () => {
  const beating = given(...claimed(by('alice', 'architect', { rules: TTL })))
    .at(LATER_MS)
    .when(heartbeatClaim({ ...by('alice', undefined, { rules: TTL }), note: 'red' }))
    .thenCommits(told('claim_renewed', { agent_id: 'alice', note: 'red' }))
    .answering({ success: true, fencing_token: NOON_MS })
    .notAfter(NOON_MS + 60 * MINUTE_MS);
  assert.equal(state(beating.facts).last_active_ms, LATER_MS);
  assert.equal(state(beating.facts).lease?.expires_at_ms, LATER_MS + 60 * MINUTE_MS);
  given(...claimed())
    .at(LATER_MS)
    .when(heartbeatClaim({ ...by('alice'), iteration: 2 }))
    .thenCommits(told('iteration_completed', { agent_id: 'alice', iteration: 2 }))
    .answering({ iteration: 2, expires_at: null });
});

test('[CLAIM-11] a heartbeat from another session of the holder takes nothing away from the first', () => {
  const other = by('alice', undefined, { caller: { ...agent('alice'), session_id: 'alice-2' } });
  const beaten = given(...claimed())
    .at(LATER_MS)
    .when(heartbeatClaim(other));
  beaten.answering({ fencing_token: NOON_MS });
  given(...beaten.facts)
    .at(LATER_MS)
    .when(convergeEdge(under(NOON_MS, by('alice'))))
    .answering({ action: 'edge_converged' });
});

test('[CLAIM-4] a hard end is off unless the rules set one; a release by it is an event with its cause', () => {
  assert.equal(state(claimed()).lease?.expires_at_ms, NEVER_MS);
  const timed = claimed(by('alice', 'architect', { rules: TTL }));
  const end_ms = NOON_MS + 60 * MINUTE_MS;
  given(...timed)
    .at(end_ms - 1)
    .when(claimEdge(by('bob', undefined, { rules: TTL })))
    .answering({ action: 'claim_rejected' })
    .notAfter(end_ms);
  given(...timed)
    .at(end_ms)
    .when(convergeEdge(by('alice', undefined, { rules: TTL })))
    .thenRefuses('edge_not_started');
  given(...timed)
    .at(end_ms)
    .when(claimEdge(by('bob', undefined, { rules: TTL })))
    .thenCommits(
      told('edge_released', { agent_id: 'alice', released_by: 'coxswain', cause: 'ttl' }),
      told('edge_started', { granted_to: 'bob' }),
    );
});

test('what others have written about a claim ends nothing that is not theirs', () => {
  const held = state(claimed());
  for (const type of ['edge_converged', 'edge_released', 'claim_renewed', 'iteration_completed']) {
    const event = told(type, { agent_id: 'bob', iteration: 9 });
    assert.deepEqual(claimEntity.evolve(held, event, LATER_MS), held, type);
  }
  const own = claimEntity.evolve(held, told('edge_released', { agent_id: 'alice' }), LATER_MS);
  assert.equal(own.lease, undefined);
});
