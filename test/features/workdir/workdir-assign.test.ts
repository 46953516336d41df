import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, found, given, HOUR_MS, NOW_MS, planned, said } from './workdir-facts.ts';

const ASSIGN_X = ['set x status=assigned assigned_at', 'move inbox/x.yaml assigned/ann/x.yaml'];

test('[DIR-1] what is new goes to its agent’s folder, assigned and dated', () => {
  const { actions } = planned([given('inbox/x.yaml', { agent: 'ann' })]);
  assert.deepEqual(said({ actions, archiving: [] }), ASSIGN_X);
  const [update] = actions;
  assert.deepEqual(update?.kind === 'update' && update.changes, {
    status: 'assigned',
    assigned_at_ms: NOW_MS,
  });
});

test('[DIR-1] the most urgent goes first, then the oldest, then by name', () => {
  const at = (days: number) => ({ created_at_ms: NOW_MS - days * DAY_MS });
  const { actions } = planned([
    given('inbox/a-low.yaml', { priority: 'low', ...at(9) }),
    given('inbox/b-undated.yaml'),
    given('inbox/c-young.yaml', at(1)),
    given('inbox/d-old.yaml', at(5)),
    given('inbox/e-medium.yaml', { priority: 'medium' }),
    given('inbox/f-high.yaml', { priority: 'high' }),
    given('inbox/g-critical.yaml', { priority: 'critical' }),
    given('inbox/a-undated.yaml'),
  ]);
  const order = actions.flatMap((action) => (action.kind === 'move' ? [action.id] : []));
  assert.deepEqual(order, [
    'g-critical',
    'f-high',
    'e-medium',
    'd-old',
    'c-young',
    'a-undated',
    'b-undated',
    'a-low',
  ]);
});

test('[DIR-1] an unknown agent is an error in the task, in the seed’s words, and it stays where it is', () => {
  const { actions, findings } = planned([given('inbox/x.yaml', { agent: 'zoe' })]);
  assert.deepEqual(
    actions.map((action) => action.kind === 'update' && [action.path, action.changes]),
    [['inbox/x.yaml', { status: 'error', error: { message: "Agent 'zoe' not found", at_ms: NOW_MS } }]],
  );
  assert.deepEqual(
    findings.map(({ kind, text, at_ms }) => [kind, text, at_ms]),
    [['error', "Task x in error: Agent 'zoe' not found", NOW_MS]],
  );
});

test('[DIR-7] an error stays as it is until a person resets it; then it is tried again', () => {
  const error = { message: "Agent 'zoe' not found", at_ms: NOW_MS - HOUR_MS };
  assert.deepEqual(said(planned([given('inbox/x.yaml', { status: 'error', error })])), []);
  assert.deepEqual(said(planned([given('assigned/ann/x.yaml', { status: 'error', error })])), []);
  for (const status of ['new', 'assigned'] as const)
    assert.deepEqual(said(planned([given('inbox/x.yaml', { status, error })])), ASSIGN_X);
  assert.deepEqual(said(planned([given('assigned/ann/x.yaml', { status: 'new', error })])), [
    'set x status=assigned assigned_at',
  ]);
  const retried = planned([given('assigned/ann/x.yaml', { status: 'assigned', error })]);
  assert.deepEqual([said(retried), retried.findings], [[], []], 'it is no error any more');
});

test('[DIR-1] whatever the status says, in the inbox it is to be assigned', () => {
  for (const status of ['assigned', 'in_progress', 'done', 'archived'] as const)
    assert.deepEqual(said(planned([given('inbox/x.yaml', { status })])), ASSIGN_X);
});

test('[DIR-1] a place that is taken is never written over', () => {
  for (const around of [{ unreadable: ['assigned/ann/x.yaml'] }]) {
    const pass = planned([given('inbox/x.yaml')], around);
    assert.deepEqual(said(pass), []);
    assert.deepEqual(found(pass), [
      'waiting x: waits for somebody to look at assigned/ann/x.yaml, which is there already',
    ]);
  }
});

test('a dependency is met when it is done or archived', () => {
  const x = given('inbox/x.yaml', { dependencies: ['y', 'z'] });
  const pass = planned([x, given('done/y.yaml')], { archived: ['archive/2026-01/z.yaml'] });
  assert.deepEqual(said(pass), ASSIGN_X);
});

test('a dependency that is not met, not there or in the fridge keeps its task in the inbox, and says so', () => {
  const waits = (dependency: string) =>
    found(
      planned([
        given('inbox/x.yaml', { dependencies: [dependency] }),
        given('assigned/ann/busy.yaml', { status: 'in_progress', started_at_ms: NOW_MS }),
        given('fridge/cold.yaml'),
      ]),
    );
  assert.deepEqual(waits('busy'), ['waiting x: waits for busy (in_progress)']);
  assert.deepEqual(waits('gone'), ['waiting x: waits for gone, which is not there']);
  assert.deepEqual(waits('cold'), ['waiting x: waits for cold, which is in the fridge']);
});

test('what is waited for is told as it is after the pass', () => {
  const pass = planned([given('inbox/a.yaml', { dependencies: ['b'] }), given('inbox/b.yaml')]);
  assert.deepEqual(found(pass), ['waiting a: waits for b (assigned)']);
});

test('a dependency that is done in the same pass is met in it', () => {
  const x = given('inbox/x.yaml', { dependencies: ['y'] });
  const pass = planned([x, given('done/y.yaml', { status: 'in_progress' })]);
  assert.deepEqual(said(pass), ['set y status=done', ...ASSIGN_X]);
});

test('tasks that wait for each other are told so, and only they', () => {
  const pass = planned([
    given('inbox/a.yaml', { dependencies: ['b'] }),
    given('inbox/b.yaml', { dependencies: ['c', 'gone'] }),
    given('inbox/c.yaml', { dependencies: ['a'] }),
    given('inbox/d.yaml', { dependencies: ['a'] }),
    given('inbox/self.yaml', { dependencies: ['self'] }),
  ]);
  assert.deepEqual(said(pass), []);
  assert.deepEqual(found(pass), [
    'waiting a: waits for itself: a → b → c → a',
    'waiting b: waits for itself: a → b → c → a',
    'waiting c: waits for itself: a → b → c → a',
    'waiting d: waits for a (new)',
    'waiting self: waits for itself: self → self',
  ]);
});

test('one that has been assigned waits for nobody: its dependencies make no circle', () => {
  const pass = planned([
    given('inbox/x.yaml', { dependencies: ['y'] }),
    given('assigned/ann/y.yaml', { dependencies: ['x'] }),
  ]);
  assert.deepEqual(found(pass), ['waiting x: waits for y (assigned)']);
});

test('a chain and a ring of ten thousand tasks are looked at once each', () => {
  const names = Array.from({ length: 10_000 }, (_, n) => `t${n}`);
  const linked = (last: string[]) =>
    names.map((name, n) =>
      given(`inbox/${name}.yaml`, { dependencies: n + 1 < names.length ? [`t${n + 1}`] : last }),
    );
  const start_ms = performance.now();
  const chain = planned(linked([]));
  assert.equal(chain.findings.length, 9999, 'only the last one has nothing to wait for');
  const ring = planned(linked(['t0']));
  assert.equal(ring.findings.length, 10_000);
  assert.match(ring.findings[0]?.text ?? '', /^waits for itself: t0 → t1 → .* → … → t0$/);
  assert.ok(performance.now() - start_ms < 5000);
});

test('the fridge is left alone, whatever is in it', () => {
  const cold = [
    given('fridge/x.yaml', { status: 'in_progress', started_at_ms: 0 }),
    given('fridge/deep/y.yaml', { status: 'error', ...{ error: { message: 'no', at_ms: 1 } } }),
    given('fridge/z.yaml', { agent: 'zoe', completed_at_ms: 0, status: 'done' }),
  ];
  const pass = planned(cold);
  assert.deepEqual([said(pass), pass.findings], [[], []]);
});
