import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Call, decide, SEED_RULES, type TestFleet } from '../support/fleet.ts';

/** An architect's edge, and one that is not. */
const EDGE = 'requirements→design';
const NOT_THEIRS = 'code↔unit_tests';

/** What ends a claim well: holder, role and evaluators are asked at the convergence itself. */
export function convergenceCases(at: string, fleet: () => TestFleet): void {
  const architect = { edge: EDGE, agent_role: 'architect' };
  const holder = async (feature: string) => {
    const { claims } = await fleet().agent('looker')('claims_status', { feature });
    return (claims as JsonObject[])[0]?.agent_id;
  };
  /** Claimed and converged outside the role's edges: it waits for a person. */
  const escalated = async (feature: string, call: Call) => {
    const asked = { feature, edge: NOT_THEIRS };
    await call('claim_edge', { ...asked, agent_role: 'architect' });
    const answer = await call('converge_edge', asked);
    assert.deepEqual([answer.success, answer.action], [false, 'convergence_escalated']);
    return String(answer.approval_id);
  };

  test(`[CLAIM-3] ${at}: a convergence frees the claim in the same step, and another may claim at once`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-convergence', edge: EDGE };
    await a('claim_edge', { ...asked, agent_role: 'architect' });
    const done = await a('converge_edge', {
      ...asked,
      iteration: 4,
      evaluators: [{ name: 'review', passed: true }],
      convergence_type: 'standard',
    });
    assert.deepEqual([done.success, done.action], [true, 'edge_converged']);
    assert.equal(await holder('C-convergence'), undefined);
    const last = (await fleet().events('C-convergence')).at(-1);
    const { agent_id, agent_role, iteration, evaluators, convergence_type } = last?.data ?? {};
    assert.deepEqual(
      [last?.type, agent_id, agent_role, iteration, evaluators, convergence_type],
      ['edge_converged', 'a', 'architect', 4, '1/1', 'standard'],
    );
    assert.equal((await b('claim_edge', { ...asked, agent_role: 'architect' })).action, 'edge_started');
    assert.equal((await a('converge_edge', asked)).success, false, 'done is done');
    assert.equal(await holder('C-convergence'), 'b');
    assert.deepEqual(await fleet().story('C-convergence'), [
      'edge_started',
      'edge_converged',
      'edge_started',
    ]);
  });

  test(`[CLAIM-3] ${at}: converging what nobody has started is refused`, async () => {
    const answer = await fleet().agent('a')('converge_edge', { feature: 'C-unstarted', ...architect });
    assert.deepEqual([answer.success, answer.error], [false, 'edge_not_started']);
    assert.deepEqual(await fleet().story('C-unstarted'), []);
  });

  test(`[CLAIM-3] ${at}: another’s convergence frees nothing, whatever token it names`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-others', ...architect };
    const { fencing_token } = await a('claim_edge', asked);
    assert.equal((await b('converge_edge', asked)).error, 'not_holder');
    assert.equal((await b('converge_edge', { ...asked, fencing_token })).error, 'not_holder');
    const named = await b('converge_edge', { ...asked, agent_id: 'a' } as JsonObject);
    assert.equal(named.success, false, 'nobody speaks as another');
    assert.equal(await holder('C-others'), 'a');
    assert.deepEqual(await fleet().story('C-others'), ['edge_started']);
  });

  test(`[CLAIM-5] ${at}: an evaluator that has not passed refuses the convergence and changes nothing`, async () => {
    fleet().rules = { ...SEED_RULES, edges: { requirements_design: { evaluators: ['review', 'lint'] } } };
    try {
      const a = fleet().agent('a');
      const asked = { feature: 'C-evaluators', edge: EDGE };
      await a('claim_edge', { ...asked, agent_role: 'architect' });
      const [review, lint] = ['review', 'lint'].map((name) => ({ name, passed: true }));
      for (const evaluators of [
        undefined,
        '1/2',
        [review],
        [review, { name: 'lint', passed: false }],
        [review, lint, { name: 'more', passed: false }],
        [review, lint, { name: 'lint', passed: false }],
      ])
        assert.equal(
          (await a('converge_edge', { ...asked, evaluators } as JsonObject)).error,
          'evaluators_failed',
          JSON.stringify(evaluators),
        );
      assert.deepEqual(await fleet().story('C-evaluators'), ['edge_started']);
      const done = await a('converge_edge', { ...asked, evaluators: [review, lint] } as JsonObject);
      assert.equal(done.action, 'edge_converged');
    } finally {
      fleet().rules = SEED_RULES;
    }
  });

  test(`[CLAIM-5] ${at}: outside its role’s edges a convergence is held for a person, in one commit`, async () => {
    const a = fleet().agent('a');
    const approval_id = await escalated('C-escalated', a);
    assert.equal(await holder('C-escalated'), 'a', 'held, not promoted');
    const row = (await fleet().rows('C-escalated')).at(-1);
    assert.deepEqual(
      row?.events.map(({ type }) => type).sort(),
      ['approval_requested', 'convergence_escalated', 'notice_raised'],
      'a person is asked, or it has not happened',
    );
    const {
      agent_role,
      norm_edge,
      approval_id: named,
    } = (await fleet().events('C-escalated')).at(-1)?.data ?? {};
    assert.deepEqual([agent_role, norm_edge, named], ['architect', 'code_unit_tests', approval_id]);
    const { escalations } = await a('claims_status', {});
    const shown = (escalations as JsonObject[]).find(({ feature }) => feature === 'C-escalated');
    assert.deepEqual([shown?.approval_id, shown?.agent_id], [approval_id, 'a']);
    const { approvals } = await a('list_approvals', { requested_by: 'a' });
    const waiting = (approvals as JsonObject[]).find((each) => each.approval_id === approval_id);
    assert.deepEqual([waiting?.kind, waiting?.status], ['convergence', 'pending']);
    const again = await a('converge_edge', { feature: 'C-escalated', edge: NOT_THEIRS });
    assert.equal(again.approval_id, approval_id, 'asked again is the same question');
  });

  test(`[CLAIM-5] ${at}: a person’s yes completes the convergence in the commit of the decision`, async () => {
    const approval_id = await escalated('C-approved', fleet().agent('a'));
    const decided = await decide(fleet().person(), approval_id, 'approve');
    assert.equal(decided.success, true, JSON.stringify(decided));
    const row = (await fleet().rows('C-approved')).at(-1);
    const types = row?.events.map(({ type }) => type) ?? [];
    for (const type of ['approval_approved', 'review_completed', 'edge_converged'])
      assert.ok(types.includes(type), `${type} among ${types}`);
    const converged = row?.events.find(({ type }) => type === 'edge_converged');
    assert.deepEqual(
      [converged?.data.agent_id, converged?.data.agent_role, converged?.data.approved_by],
      ['a', 'architect', 'person:ann'],
    );
    assert.equal(await holder('C-approved'), undefined, 'freed');
    const again = await decide(fleet().person('bob'), approval_id, 'approve');
    assert.equal(again.success, false, 'it is decided');
    assert.equal(
      (await fleet().agent('b')('claim_edge', { feature: 'C-approved', edge: NOT_THEIRS })).success,
      true,
    );
  });

  test(`[CLAIM-5] ${at}: a person’s no leaves the claim with its holder, who may go on and ask again`, async () => {
    const a = fleet().agent('a');
    const approval_id = await escalated('C-denied', a);
    assert.equal((await decide(fleet().person(), approval_id, 'deny_approval')).success, true);
    const events = await fleet().events('C-denied');
    const review = events.at(-1);
    assert.deepEqual(
      [review?.type, review?.data.decision, review?.data.reviewed_by, review?.data.feedback],
      ['review_completed', 'rejected', 'person:ann', 'looked at it'],
    );
    assert.equal(await holder('C-denied'), 'a');
    assert.equal(
      (await a('heartbeat_claim', { feature: 'C-denied', edge: NOT_THEIRS, iteration: 2 })).success,
      true,
    );
    assert.ok(!events.some(({ type }) => type === 'edge_converged'));
  });

  test(`[CLAIM-5] ${at}: a decision after the claim has changed hands converges nothing`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-late', edge: NOT_THEIRS };
    const approval_id = await escalated('C-late', a);
    await a('release_edge', asked);
    await b('claim_edge', { ...asked, agent_role: 'tdd_engineer' });
    await decide(fleet().person(), approval_id, 'approve');
    assert.equal(await holder('C-late'), 'b');
    assert.ok(!(await fleet().story('C-late')).includes('edge_converged'));
    assert.equal((await b('converge_edge', asked)).action, 'edge_converged', 'b’s own is within its role');
  });

  test(`[CLAIM-5] ${at}: the holder’s next session does not converge by what its last one asked for`, async () => {
    const [old, fresh] = [fleet().agent('a', 'old'), fleet().agent('a', 'fresh')];
    const asked = { feature: 'C-next-session', edge: NOT_THEIRS };
    const approval_id = await escalated('C-next-session', old);
    await old('release_edge', asked);
    await fresh('claim_edge', { ...asked, agent_role: 'architect' });
    await decide(fleet().person(), approval_id, 'approve');
    assert.equal(await holder('C-next-session'), 'a', 'another grant, another work');
    assert.ok(!(await fleet().story('C-next-session')).includes('edge_converged'));
    // The same without a release between: the next session goes on where the last one stood.
    const left = await escalated('C-left', fleet().agent('a', 'left'));
    await fresh('claim_edge', { feature: 'C-left', edge: NOT_THEIRS });
    await decide(fleet().person(), left, 'approve');
    assert.ok(!(await fleet().story('C-left')).includes('edge_converged'));
  });

  test(`[CLAIM-5] ${at}: an unknown role converges nothing; one that the file gives can’t be left`, async () => {
    fleet().rules = { ...SEED_RULES, agents: { bound: 'tdd_engineer' } };
    try {
      const stranger = fleet().agent('a');
      await stranger('claim_edge', { feature: 'C-unknown', edge: EDGE, agent_role: 'wizard' });
      const answer = await stranger('converge_edge', { feature: 'C-unknown', edge: EDGE });
      assert.equal(answer.action, 'convergence_escalated');
      for (const role of ['constructor', '__proto__', 'toString'])
        assert.equal(
          (await stranger('converge_edge', { feature: 'C-unknown', edge: EDGE, agent_role: role })).success,
          false,
          role,
        );
      const bound = fleet().agent('bound');
      const asked = { feature: 'C-bound', edge: EDGE };
      assert.equal((await bound('claim_edge', { ...asked, agent_role: 'architect' })).error, 'role_mismatch');
      assert.equal((await bound('claim_edge', asked)).agent_role, 'tdd_engineer');
      const named = await bound('converge_edge', { ...asked, agent_role: 'architect' });
      assert.equal(named.error, 'role_mismatch');
      assert.equal((await bound('converge_edge', asked)).action, 'convergence_escalated');
    } finally {
      fleet().rules = SEED_RULES;
    }
  });

  test(`[CLAIM-5] ${at}: the role is the one that was claimed with, not one thought of later`, async () => {
    const a = fleet().agent('a');
    const asked = { feature: 'C-role-later', edge: NOT_THEIRS };
    await a('claim_edge', { ...asked, agent_role: 'architect' });
    for (const operation of ['converge_edge', 'claim_edge'])
      assert.equal(
        (await a(operation, { ...asked, agent_role: 'full_stack' })).error,
        'role_mismatch',
        operation,
      );
    assert.deepEqual(await fleet().story('C-role-later'), ['edge_started']);
  });

  test(`[CLAIM-5] ${at}: refused or only warned where the file says so, and status says that it is weaker`, async () => {
    const a = fleet().agent('a');
    try {
      fleet().rules = { ...SEED_RULES, outside_authority_action: 'reject' };
      const asked = { feature: 'C-weaker', edge: NOT_THEIRS };
      await a('claim_edge', { ...asked, agent_role: 'architect' });
      const refused = await a('converge_edge', asked);
      assert.equal(refused.success, false);
      assert.notEqual(refused.action, 'convergence_escalated');
      assert.equal(await holder('C-weaker'), 'a');
      fleet().rules = { ...SEED_RULES, outside_authority_action: 'warn' };
      const { rules } = await a('claims_status', {});
      const shown = rules as JsonObject;
      assert.equal(shown.outside_authority_action, 'warn');
      assert.ok((shown.weaker_than_default as JsonObject[]).length > 0);
      const warned = await a('converge_edge', asked);
      assert.deepEqual([warned.success, warned.action], [true, 'edge_converged']);
      assert.ok((warned.warnings as JsonObject[]).length > 0);
    } finally {
      fleet().rules = SEED_RULES;
    }
  });

  test(`[CLAIM-5] ${at}: an edge that a person decides about goes to one, whatever role or setting`, async () => {
    fleet().rules = {
      ...SEED_RULES,
      outside_authority_action: 'warn',
      roles: { full_stack: { converge_edges: ['all'], human_review_bypass: true } },
      edges: { requirements_design: { human_required: true } },
    };
    try {
      const a = fleet().agent('a');
      const asked = { feature: 'C-human', edge: 'Requirements -> Design', agent_role: 'full_stack' };
      await a('claim_edge', asked);
      const answer = await a('converge_edge', asked);
      assert.deepEqual([answer.success, answer.action], [false, 'convergence_escalated']);
      assert.equal(await holder('C-human'), 'a');
    } finally {
      fleet().rules = SEED_RULES;
    }
  });
}
