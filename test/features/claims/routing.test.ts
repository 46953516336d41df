import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFeature, HOUR_MS, NOW_MS, ROLES, routed, tasks } from './routing-facts.ts';

const three = ['requirements', 'design', 'code'];

test('[CLAIM-7] closest to complete first; a time box about to end before that; then priority, then what was touched last', () => {
  const features = [
    aFeature('far', { modules: ['a'] }),
    aFeature('near', { modules: ['b'], done: three }),
    aFeature('urgent', { modules: ['c'], priority: 1 }),
    aFeature('fresh', { modules: ['d'], touched_ms: 9 }),
    aFeature('boxed', { modules: ['e'], time_box_ends_ms: NOW_MS + 2 * HOUR_MS }),
    aFeature('later', { modules: ['f'], time_box_ends_ms: NOW_MS + 99 * HOUR_MS, priority: 9 }),
  ];
  const crew = {
    a: 'full_stack',
    b: 'full_stack',
    c: 'full_stack',
    d: 'full_stack',
    e: 'full_stack',
    f: 'full_stack',
  };
  assert.deepEqual(tasks({ features, crew }), [
    'a boxed intent_requirements',
    'b near code_unit_tests',
    'c urgent intent_requirements',
    'd fresh intent_requirements',
    'e far intent_requirements',
    'f later intent_requirements',
  ]);
  const reasons = routed({ features, crew }).assignments.map(({ reason }) => reason.split(';')[0]);
  assert.deepEqual(reasons, [
    'its time box ends in 2 h',
    'closest to complete: one edge to go',
    'priority 1',
    'most recently touched',
    'priority 5',
    'the only one that fits',
  ]);
});

test('[CLAIM-7] claimed features are skipped, converged edges never come back, dependencies come first', () => {
  const features = [
    aFeature('held', { modules: ['a'] }),
    aFeature('base', { modules: ['b'], done: ['requirements'] }),
    aFeature('whole', { modules: ['c'], dependencies: [{ feature: 'base' }], done: three }),
    aFeature('asset', { modules: ['d'], dependencies: [{ feature: 'base', asset: 'Requirements' }] }),
    aFeature('strange', { modules: ['e'], dependencies: [{ feature: 'nobody' }] }),
    aFeature('settled', { modules: ['f'], dependencies: [{ feature: 'gone', resolved: true }], priority: 9 }),
    aFeature('blocked', { modules: ['g'], status: 'blocked' }),
    aFeature('done', { modules: ['h'], status: 'converged' }),
  ];
  const taken = [
    { feature: 'held', edge: 'design→code', agent_id: 'bob' },
    { feature: 'base', edge: 'requirements_design', converged: true },
  ];
  const crew = { x: 'full_stack', y: 'full_stack', z: 'full_stack', rest: 'full_stack' };
  assert.deepEqual(tasks({ features, taken, crew }), [
    'x base design_code',
    'y asset intent_requirements',
    'z settled intent_requirements',
  ]);
  const { unassigned, held_up } = routed({ features, taken, crew });
  assert.deepEqual(unassigned, [
    {
      agent_id: 'rest',
      agent_role: 'full_stack',
      reason: 'nothing is open: all is done, claimed, or waits for something else',
    },
  ]);
  assert.deepEqual(held_up, [
    { feature: 'whole', reason: 'waits for base' },
    { feature: 'strange', reason: 'waits for nobody, of which nothing is known' },
    { feature: 'blocked', reason: 'blocked, as its file says' },
  ]);
});

test('[CLAIM-7] an edge that somebody holds again is not converged, whatever was before', () => {
  const features = [
    aFeature('base', { done: [...three, 'unit_tests'] }),
    aFeature('next', { dependencies: [{ feature: 'base', asset: 'code' }] }),
  ];
  assert.deepEqual(tasks({ features }), ['me next intent_requirements']);
  const taken = [{ feature: 'base', edge: 'design_code', agent_id: 'bob' }];
  assert.deepEqual(tasks({ features, taken }), []);
});

test('[CLAIM-7] who shares no module runs in parallel; the closure of what modules build on counts, circles included', () => {
  const features = [
    aFeature('first', { modules: ['api'], done: three }),
    aFeature('second', { modules: ['web'], done: ['requirements'] }),
    aFeature('third', { modules: ['docs'] }),
  ];
  const modules = { web: ['http'], http: ['net', 'web'], api: ['net'], net: ['api'] };
  const { assignments, warnings, groups } = routed({
    features,
    modules,
    crew: { a: 'full_stack', b: 'full_stack' },
  });
  assert.deepEqual(
    assignments.map(({ agent_id, feature }) => `${agent_id} ${feature}`),
    ['a first', 'b third'],
    'second ranks higher than third, but shares api and net with first',
  );
  assert.match(assignments[1]?.reason ?? '', /shares no module with what others work on/);
  assert.deepEqual([warnings, groups], [[], [['first', 'third'], ['second']]]);
});

test('[CLAIM-7] where nothing else is left the pair is warned of, with an order: what runs, then what ranks first', () => {
  const features = [
    aFeature('one', { modules: ['db', 'api'], done: three }),
    aFeature('two', { modules: ['db', 'web'], done: ['requirements'] }),
    aFeature('held', { modules: ['db'] }),
  ];
  const taken = [{ feature: 'held', edge: 'intent_requirements', agent_id: 'bob' }];
  const { assignments, warnings } = routed({ features, taken, crew: { a: 'full_stack', b: 'full_stack' } });
  assert.deepEqual(
    warnings.map(({ order, inner_product, shared_modules, advice }) => [
      order,
      inner_product,
      shared_modules,
      advice,
    ]),
    [
      [['held', 'one'], 1, ['db'], 'sequential_recommended'],
      [['held', 'two'], 1, ['db'], 'sequential_recommended'],
      [['one', 'two'], 1, ['db'], 'sequential_recommended'],
    ],
  );
  assert.match(assignments[0]?.reason ?? '', /shares db with held \(bob\): better after it/);
  const forbidding = {
    ...ROLES,
    routing: { nonzero_inner_product: 'forbid' as const, skip_claimed_features: true },
  };
  const refused = routed({ features, taken, rules: forbidding });
  assert.deepEqual(refused.assignments, []);
  assert.equal(
    refused.unassigned[0]?.reason,
    'everything that is open shares modules with what others work on',
  );
});

test('[CLAIM-7] of unknown modules nothing is orthogonal; an agent is not in its own way', () => {
  const features = [aFeature('a', { modules: ['x'] }), aFeature('b'), aFeature('c', { modules: ['y'] })];
  const taken = [{ feature: 'b', edge: 'intent_requirements', agent_id: 'bob' }];
  const [warning] = routed({ features, taken }).warnings;
  assert.deepEqual(
    [warning?.order, warning?.is_orthogonal, warning?.unknown_modules],
    [['b', 'a'], false, ['b']],
  );
  assert.deepEqual(routed({ features, taken, crew: { bob: 'full_stack' } }).warnings, []);
  assert.deepEqual(routed({ features }).groups, [['a', 'c'], ['b']]);
  const rules = { ...ROLES, routing: { ...ROLES.routing, nonzero_inner_product: 'forbid' as const } };
  assert.deepEqual(tasks({ features, taken, rules }), []);
  assert.deepEqual(tasks({ features, taken, rules, crew: { bob: 'full_stack' } }), [
    'bob a intent_requirements',
  ]);
});

test('[CLAIM-7] an agent gets first what its role may converge; else it is told that a person has to agree', () => {
  const features = [
    aFeature('coded', { modules: ['a'], done: three }),
    aFeature('fresh', { modules: ['b'] }),
    aFeature('designed', {
      modules: ['c'],
      assets: ['requirements', 'design', 'code', 'test_cases'],
      done: ['requirements', 'design'],
    }),
  ];
  assert.deepEqual(
    tasks({ features, crew: { ann: 'architect', tim: 'tdd_engineer', tom: 'tdd_engineer' } }),
    ['ann designed design_code', 'tim coded code_unit_tests', 'tom fresh intent_requirements'],
  );
  const [forTim] = routed({ features: features.slice(1, 2), crew: { tim: 'tdd_engineer' } }).assignments;
  assert.match(forTim?.reason ?? '', /a person has to agree to its convergence by tdd_engineer/);
  const both = { ...ROLES, routing: { ...ROLES.routing, skip_claimed_features: false } };
  assert.deepEqual(
    tasks({ features: features.slice(2), crew: { ann: 'architect', tim: 'tdd_engineer' }, rules: both }),
    ['ann designed design_code', 'tim designed design_test_cases'],
  );
});

test('[CLAIM-7] only a person can go on: said when nothing is open, something waits, and nobody is at work', () => {
  const features = [aFeature('a', { modules: ['x'] })];
  const stale = { feature: 'a', edge: 'intent_requirements', agent_id: 'bob', waits: 'bob is silent' };
  const only = routed({ features, taken: [stale] });
  assert.deepEqual(
    [only.waiting_for_person, only.waiting],
    [true, [{ feature: 'a', edge: 'intent_requirements', reason: 'bob is silent' }]],
  );
  const other = { feature: 'b', edge: 'intent_requirements', agent_id: 'eve' };
  assert.equal(routed({ features, taken: [stale, other] }).waiting_for_person, false);
  assert.equal(routed({ features: [...features, aFeature('c')], taken: [stale] }).waiting_for_person, false);
  const over = routed({ features: [aFeature('t', { time_box_ends_ms: NOW_MS })] });
  assert.deepEqual([over.waiting_for_person, over.waiting[0]?.reason], [true, 'its time box is over']);
  assert.equal(routed({ features: [] }).waiting_for_person, false);
});

test('[CLAIM-7] without feature files: what the log knows', () => {
  const taken = [
    { feature: 'a', edge: 'design→code', agent_id: 'bob' },
    { feature: 'b', edge: 'design→code', converged: true },
    { feature: 'b', edge: 'code_unit_tests' },
    { feature: 'c', edge: 'x', converged: true },
  ];
  assert.deepEqual(tasks({ features: [], taken }), ['me b code_unit_tests']);
  assert.deepEqual(routed({ features: [], taken }).groups, [['a'], ['b']]);
});

test('[CLAIM-7] a graph that leads back to its start still begins somewhere', () => {
  const features = [
    aFeature('loop', { assets: ['telemetry→intent', 'intent→requirements', 'requirements→telemetry'] }),
  ];
  assert.deepEqual(tasks({ features }), ['me loop telemetry_intent']);
});
