import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingProof, proofNeeds } from '../../../src/features/verification/test-required.ts';
import type { Loaded } from '../../../src/ledger/decision.ts';

const COMMIT = '4f1c2ab0d9e84f1c2ab0d9e84f1c2ab0d9e84f1c';
const anna = { agent_id: 'anna', agent_type: 'tester', session_id: 's' };

const strict = {
  name: 'strict',
  agent_types: [],
  trust_level: 2,
  network_policy: 'none',
  required_domains: [],
  allowed_operations: [],
  blocked_operations: [],
  resource_limits: {},
  guardrails: ['test_required'],
  elevated_operations: [],
};

/** A store with a rulebook that asks anna for tests, and runs of the commit that ended so. */
function store(...statuses: string[]): Loaded {
  const rulebook = {
    profiles: { strict },
    assignments: [{ agent_id: 'anna', profile: 'strict' }],
    lowered: [],
    network_policies: {},
    settings: {},
  };
  const runs = statuses.map((status, index) => ({
    id: `${COMMIT}#${index}`,
    state: { status, policy: { tier: 1 } },
  }));
  return {
    get: () => ({ state: rulebook }),
    list: () => runs,
    has: () => true,
    hasKey: () => true,
    hasList: () => true,
  } as unknown as Loaded;
}

test('[GUARD-10] test_required: no completion without a passed test of that commit', () => {
  const proof = { caller: anna, success: true, commit_sha: COMMIT };
  assert.equal(missingProof(proof, store())?.error, 'tests_required');
  assert.equal(missingProof(proof, store('failed'))?.error, 'tests_required');
  assert.equal(missingProof(proof, store('passed')), undefined);
  const unnamed = missingProof({ ...proof, commit_sha: undefined }, store('passed'));
  assert.deepEqual([unnamed?.error, unnamed?.field], ['tests_required', 'result']);
});

test('[GUARD-10] whoever gives up, or has another profile, proves nothing', () => {
  assert.equal(missingProof({ caller: anna, success: false }, store()), undefined);
  assert.deepEqual(proofNeeds({ caller: anna, success: false }), {});
  const bert = { ...anna, agent_id: 'bert', agent_type: 'another' };
  assert.equal(missingProof({ caller: bert, success: true }, store()), undefined);
});
