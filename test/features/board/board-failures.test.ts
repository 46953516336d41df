import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boardClaimDueAt_ms } from '../../../src/features/board/board-claim.ts';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import { configureBoard, returnGrant, takeGrant } from '../../../src/features/board/commands.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import {
  agent,
  artefactIn,
  bidder,
  board,
  CLAIM,
  claimIn,
  delivers,
  fails,
  failuresIn,
  GOAL,
  grantsIn,
  happened,
  LATER_MS,
  publish,
  settings,
  settles,
  takes,
  told,
} from './board-facts.ts';

const iso = (time_ms: number) => new Date(time_ms).toISOString();

for (const [phase, bid, minutes] of [
  ['review', 'review', 5],
  ['parallel', 'claim', 10],
  ['exclusive', 'exclusive', 30],
] as const)
  test(`[PHASE-5] ${phase}: after ${minutes} minutes without a word the claim is over, and a Failure says why`, () => {
    const before = board([bidder('emma', bid)]);
    const due_ms = NOON_MS + minutes * MINUTE_MS;
    assert.equal(boardClaimDueAt_ms(claimIn(before)), due_ms);
    given(...before)
      .at(due_ms - 1)
      .when(settles())
      .thenRefuses('wrong_status');
    const ended = given(...before)
      .at(due_ms)
      .when(settles());
    const [failure, ...more] = failuresIn(ended.facts);
    assert.deepEqual(more, []);
    assert.equal(failure?.type, 'GrantTimedOut');
    assert.deepEqual(failure?.payload, {
      reason: 'timeout',
      phase,
      agent: 'emma',
      attempt: 1,
      granted_at: iso(NOON_MS),
      started_at: null,
      limit_ms: minutes * MINUTE_MS,
    });
    const { status, termination_reason, grants } = claimIn(ended.facts);
    assert.deepEqual([status, termination_reason], ['terminated', 'timeout']);
    const failed_id = grants.emma?.delivered?.artefact_id ?? '';
    const { structural_type, source_artefacts, produced_by_role, claim_id } = artefactIn(
      ended.facts,
      failed_id,
    );
    assert.deepEqual(
      [structural_type, source_artefacts, produced_by_role, claim_id],
      ['Failure', [GOAL], 'orchestrator', CLAIM],
    );
    given(...ended.facts)
      .at(due_ms + 1)
      .when(settles())
      .thenRefuses('wrong_status');
    given(...ended.facts)
      .at(due_ms + 1)
      .when(delivers('emma', '{}'))
      .answering({ late: true, claim: { status: 'terminated' } });
  });

test('[PHASE-5] past its time a part still counts as long as nobody has ended the claim for it', () => {
  const done = happened(board([bidder('emma', 'exclusive')]), [
    NOON_MS + 31 * MINUTE_MS,
    delivers('emma', 'just done'),
  ]);
  assert.deepEqual([claimIn(done).status, artefactIn(done, 'by emma').late], ['complete', undefined]);
});

test('[PHASE-5] the agent’s own limit beats the phase’s, and both can be set', () => {
  const crew = [bidder('paul', 'claim', { timeout_ms: 7000 }), bidder('pete', 'claim')];
  const timeouts_ms = { review: 1000, parallel: 20_000, exclusive: 3000 };
  const { grants } = claimIn(board(crew, { timeouts_ms }));
  assert.deepEqual(
    [grants.paul?.limit_ms, grants.pete?.limit_ms, grants.pete?.deadline_ms],
    [7000, 20_000, NOON_MS + 20_000],
  );
});

test('[PHASE-5] of several that are late the first by name ends the claim, with one Failure', () => {
  const before = board([bidder('pete', 'claim'), bidder('paul', 'claim'), bidder('emma', 'exclusive')]);
  const ended = happened(before, [NOON_MS + 10 * MINUTE_MS, settles()]);
  assert.deepEqual(
    failuresIn(ended).map(({ payload }) => payload.agent),
    ['paul'],
  );
  assert.deepEqual(grantsIn(ended), ['parallel: paul pete']);
});

test('[PHASE-5] what was delivered in time stays so when another is late', () => {
  const before = happened(
    board([bidder('paul', 'claim'), bidder('pete', 'claim')]),
    delivers('paul', 'tests'),
  );
  const ended = happened(before, [NOON_MS + 10 * MINUTE_MS, settles()]);
  assert.deepEqual(
    failuresIn(ended).map(({ payload }) => payload.agent),
    ['pete'],
  );
  assert.equal(claimIn(ended).grants.paul?.delivered?.verdict, 'done');
});

test('[PHASE-5] retry: an agent is asked again as often as max_attempts says, then the claim is over', () => {
  const crew = [bidder('emma', 'exclusive')];
  const before = board(crew, { on_failure: 'retry', max_attempts: 3 });
  const second = given(...before)
    .at(LATER_MS)
    .when(fails('emma', { id: 'f1' }));
  const { attempt, deadline_ms, granted_at_ms, taken, started_at_ms } =
    claimIn(second.facts).grants.emma ?? {};
  assert.deepEqual(
    [attempt, granted_at_ms, deadline_ms, taken, started_at_ms],
    [2, LATER_MS, LATER_MS + 30 * MINUTE_MS, undefined, undefined],
  );
  assert.equal(claimIn(second.facts).status, 'pending_exclusive');
  const third = happened(second.facts, [LATER_MS + 30 * MINUTE_MS, settles()]);
  assert.equal(claimIn(third).grants.emma?.attempt, 3, 'time-outs count, too');
  const fourth = happened(third, fails('emma', { id: 'f3' }));
  assert.deepEqual(
    [claimIn(fourth).status, claimIn(fourth).termination_reason],
    ['terminated', 'agent_failed'],
  );
  const made_good = happened(third, delivers('emma', 'done'));
  assert.equal(claimIn(made_good).status, 'complete');
  assert.deepEqual(grantsIn(made_good), ['exclusive: emma'], 'the phase was started once');
});

test('[PHASE-5] the agent’s own on_failure and max_attempts beat the board’s', () => {
  const stubborn = board([bidder('emma', 'exclusive', { on_failure: 'retry', max_attempts: 2 })]);
  const once = happened(stubborn, fails('emma', { id: 'f1' }));
  assert.equal(claimIn(once).grants.emma?.attempt, 2);
  assert.equal(claimIn(happened(once, fails('emma', { id: 'f2' }))).status, 'terminated');
  const rules = { on_failure: 'retry', max_attempts: 9 } as const;
  const brittle = board([bidder('emma', 'exclusive', { on_failure: 'terminate' })], rules);
  assert.equal(claimIn(happened(brittle, fails('emma'))).status, 'terminated');
});

test('[PHASE-5] the result of an attempt that was given up is kept as late; the one after it counts', () => {
  const before = happened(board([bidder('emma', 'exclusive')], { on_failure: 'retry' }), [
    NOON_MS + 30 * MINUTE_MS,
    settles(),
  ]);
  const late = given(...before)
    .at(NOON_MS + 31 * MINUTE_MS)
    .when(delivers('emma', 'slow', { id: 'slow', attempt: 1 }))
    .answering({
      late: true,
      message: 'It is kept, but changes nothing: the claim is over or its part was granted anew.',
    });
  assert.equal(claimIn(late.facts).status, 'pending_exclusive');
  const done = happened(late.facts, delivers('emma', 'done', { attempt: 2 }));
  assert.equal(claimIn(done).status, 'complete');
});

test('[PHASE-5] retries of many at once: each gets a Failure of its own, in commits that stay within their limit', () => {
  const crew = Array.from({ length: limits.board_agents_max }, (_, n) => bidder(`a${n}`, 'claim'));
  const rules = settings({ on_failure: 'retry', max_attempts: 2 });
  const goals = ['g1', 'g2', 'g3'];
  const claims = goals.map(claimIdOf);
  let facts = happened([], configureBoard(rules, crew), ...goals.map((id) => publish(id)));
  const at_ms = NOON_MS + 10 * MINUTE_MS;
  let rounds = 0;
  for (let left = true; left && rounds < 10; rounds += 1) {
    const next = given(...facts)
      .at(at_ms)
      .when(settles(...claims));
    left = next.settled.verdict === 'commit';
    if (left) facts = next.facts;
  }
  assert.equal(failuresIn(facts).length, goals.length * crew.length);
  for (const id of claims)
    assert.ok(Object.values(claimIn(facts, id).grants).every(({ attempt }) => attempt === 2));
});

test('[PHASE-4] of two that would run one grant one takes it; it is free again when its holder is silent', () => {
  const before = board([bidder('emma', 'exclusive')]);
  const taken = given(...before)
    .at(LATER_MS)
    .when(takeGrant({ claim_id: CLAIM, caller: agent('emma', 's1'), host: 'h', pid: 7 }))
    .thenCommits(
      told('grant_taken', {
        agent_id: 'emma',
        grant: {
          started_at_ms: LATER_MS,
          deadline_ms: LATER_MS + 30 * MINUTE_MS,
          taken: { session_id: 's1' },
        },
      }),
    )
    .answering({
      claim_id: CLAIM,
      artefact_id: GOAL,
      phase: 'exclusive',
      claim_type: 'exclusive',
      attempt: 1,
    });
  const until_ms = LATER_MS + limits.grant_lease_ms;
  given(...taken.facts)
    .at(until_ms - 1)
    .when(takes('emma', 's2'))
    .thenRefuses('grant_taken', { session_id: 's1', host: 'h', pid: 7, until: iso(until_ms) });
  const renewed = happened(taken.facts, [until_ms - 1, takes('emma', 's1')]);
  assert.equal(claimIn(renewed).grants.emma?.started_at_ms, LATER_MS, 'its time began once');
  const other = happened(taken.facts, [until_ms, takes('emma', 's2')]);
  assert.deepEqual(
    [claimIn(other).grants.emma?.taken?.session_id, claimIn(other).grants.emma?.started_at_ms],
    ['s2', LATER_MS],
  );
  given(...taken.facts)
    .at(LATER_MS)
    .when(takeGrant({ claim_id: CLAIM, caller: agent('emma', 's2'), instead_of: 's1' }))
    .answering({ success: true });
  given(...taken.facts)
    .at(LATER_MS)
    .when(takeGrant({ claim_id: CLAIM, caller: agent('emma', 's2'), instead_of: 's0' }))
    .thenRefuses('grant_taken');
});

test('[PHASE-5] an agent’s time begins when somebody begins: queued it loses none, and is anybody’s', () => {
  const before = board([bidder('emma', 'exclusive')]);
  const queued = happened(before, [
    LATER_MS,
    takeGrant({ claim_id: CLAIM, caller: agent('emma', 's1'), queued: true }),
  ]);
  const { started_at_ms, deadline_ms } = claimIn(queued).grants.emma ?? {};
  assert.deepEqual(
    [started_at_ms, deadline_ms],
    [undefined, LATER_MS + limits.grant_lease_ms + 30 * MINUTE_MS],
  );
  const begun = happened(queued, [LATER_MS + 1, takes('emma', 's2')]);
  assert.equal(claimIn(begun).grants.emma?.deadline_ms, LATER_MS + 1 + 30 * MINUTE_MS);
  const preparing = happened(before, [
    LATER_MS,
    takeGrant({ claim_id: CLAIM, caller: agent('emma', 's1'), preparing: true }),
  ]);
  assert.equal(claimIn(preparing).grants.emma?.started_at_ms, undefined);
  given(...preparing)
    .at(LATER_MS)
    .when(takes('emma', 's2'))
    .thenRefuses('grant_taken');
});

test('[PHASE-4] a grant that was given back is anybody’s, with its full time; only its holder gives it back', () => {
  const taken = happened(board([bidder('emma', 'exclusive')]), takes('emma', 's1'));
  const giveBack = (session_id: string) =>
    returnGrant({ claim_id: CLAIM, caller: agent('emma', session_id) });
  given(...taken)
    .at(LATER_MS)
    .when(giveBack('s2'))
    .thenRefuses('not_held', { claim_id: CLAIM });
  const back = happened(taken, [LATER_MS, giveBack('s1')]);
  const { taken: holder, started_at_ms, deadline_ms } = claimIn(back).grants.emma ?? {};
  assert.deepEqual([holder, started_at_ms, deadline_ms], [undefined, undefined, LATER_MS + 30 * MINUTE_MS]);
  given(...back)
    .at(LATER_MS)
    .when(takes('emma', 's2'))
    .answering({ success: true, attempt: 1 });
});

test('[PHASE-4] what is not granted, delivered already or over can’t be taken', () => {
  const before = board([bidder('emma', 'exclusive')]);
  const refusals = [
    [before, takes('paul'), 'not_granted'],
    [happened(before, delivers('emma', 'done')), takes('emma'), 'not_granted'],
    [before, takes('emma', 's1', 'no claim'), 'unknown_claim'],
  ] as const;
  for (const [facts, decision, code] of refusals)
    given(...facts)
      .at(LATER_MS)
      .when(decision)
      .thenRefuses(code);
});

test('[PHASE-5] what has been delivered is nobody’s any more: the lease ends with it', () => {
  const crew = [bidder('paul', 'claim'), bidder('pete', 'claim')];
  const done = happened(board(crew), takes('paul'), delivers('paul', 'tests'));
  assert.equal(claimIn(done).grants.paul?.taken, undefined);
});
