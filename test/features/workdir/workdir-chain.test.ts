import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../../src/features/workdir/plan-pass.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import { DAY_MS, done, given, HOUR_MS, NOW_MS, planned, result, said, treeOf } from './workdir-facts.ts';

const DONE_MS = Date.UTC(2026, 2, 9, 8, 30, 0);
const parent = given('done/p.yaml', {
  agent: 'ann',
  artefacts: ['docs/a.md'],
  priority: 'high',
  repo: 'shop',
  branch: 'main',
  completed_at_ms: DONE_MS,
  ...result('bob', {
    next_task_title: 'Review: the Draft!',
    next_artefacts: ['docs/review.md'],
    next_task_notes: ['look twice'],
  }),
});
const CHILD = '2026-03-09T0830-bob-review-the-draft';

test('[DIR-2] a result that names the next agent is followed by a task with title, artefacts and where it comes from', () => {
  const { actions } = planned([parent]);
  assert.deepEqual(said({ actions, archiving: [] }), [
    `create inbox/${CHILD}.yaml`,
    `set p follow_up=${CHILD}`,
    `set ${CHILD} status=assigned assigned_at`,
    `move inbox/${CHILD}.yaml assigned/bob/${CHILD}.yaml`,
  ]);
  const [create] = actions;
  assert.deepEqual(create?.kind === 'create' && [create.parent, create.follow_up], [
    'done/p.yaml',
    {
      id: CHILD,
      agent: 'bob',
      title: 'Review: the Draft!',
      artefacts: ['docs/review.md'],
      priority: 'high',
      repo: 'shop',
      branch: 'main',
      notes: ['look twice'],
      previous_task: 'p',
      previous_agent: 'ann',
      created_at_ms: NOW_MS,
    },
  ]);
});

test('[DIR-2] without a title and artefacts of its own it has the seed’s title and the parent’s artefacts', () => {
  const { actions } = planned([{ ...parent, task: { ...parent.task, ...result('bob') } }]);
  const [create] = actions;
  assert.ok(create?.kind === 'create');
  assert.deepEqual(
    [create.id, create.follow_up.title, create.follow_up.artefacts],
    ['2026-03-09T0830-bob-follow-up-to-p', 'Follow-up to p', ['docs/a.md']],
  );
});

test('[DIR-2] its name follows from the parent alone: another minute, the same follow-up', () => {
  for (const later_ms of [0, 61_000, DAY_MS]) {
    const { actions } = planned([parent], { now_ms: NOW_MS + later_ms });
    assert.equal(actions[0]?.kind === 'create' && actions[0].id, CHILD);
  }
});

test('[DIR-2] once: who has been followed, or is followed by a task that another coordinator made, gets no other', () => {
  const marked = { ...parent, task: { ...parent.task, follow_up: CHILD } };
  assert.deepEqual(said(planned([marked])), [], 'somebody deleted it: it does not come back');
  for (const path of ['inbox/old.yaml', 'assigned/bob/old.yaml', 'done/old.yaml', 'fridge/old.yaml']) {
    const other = given(path, { agent: 'bob', previous_task: 'p', status: 'error' });
    assert.ok(said(planned([parent, other])).includes('set p follow_up=old'), path);
    assert.ok(!said(planned([parent, other])).some((line) => line.startsWith('create')), path);
  }
  const elsewhere = planned([parent], { known_follow_ups: new Map([['p', 'old']]) });
  assert.deepEqual(said(elsewhere), ['set p follow_up=old']);
});

test('[DIR-2] of several that follow one task the first by name counts', () => {
  const others = ['b', 'a', 'c'].map((name) => given(`assigned/bob/${name}.yaml`, { previous_task: 'p' }));
  assert.deepEqual(said(planned([parent, ...others])), ['set p follow_up=a']);
});

test('[DIR-2] cut short between the two steps, the next pass finds the follow-up and says so', () => {
  const tree = treeOf([parent]);
  const { actions } = planned([parent]);
  const half = done(tree, actions.slice(0, 1));
  const next = plan(half, NOW_MS + HOUR_MS, DEFAULT_WORKDIR);
  assert.deepEqual(said(next), [
    `set p follow_up=${CHILD}`,
    `set ${CHILD} status=assigned assigned_at`,
    `move inbox/${CHILD}.yaml assigned/bob/${CHILD}.yaml`,
  ]);
});

test('[DIR-2] two parents that ask for the same in one minute get one each, and no name is used twice', () => {
  const other = { ...parent, path: 'done/q.yaml', task: { ...parent.task, id: 'q' } };
  const created = (around = {}) =>
    said(planned([parent, other], around)).filter((line) => line.startsWith('create'));
  assert.deepEqual(created(), [`create inbox/${CHILD}.yaml`, `create inbox/${CHILD}-2.yaml`]);
  assert.deepEqual(
    created({ archived: [`archive/2026-03/${CHILD}.yaml`], unreadable: [`inbox/${CHILD}-2.yaml`] }),
    [`create inbox/${CHILD}-3.yaml`, `create inbox/${CHILD}-4.yaml`],
  );
});

test('[DIR-2] a follow-up for an agent that nobody knows is made, and is an error', () => {
  const lost = { ...parent, task: { ...parent.task, ...result('zoe') } };
  const pass = planned([lost]);
  assert.deepEqual(said(pass).slice(0, 1), ['create inbox/2026-03-09T0830-zoe-follow-up-to-p.yaml']);
  assert.deepEqual(
    pass.findings.map(({ text }) => text),
    ["Task 2026-03-09T0830-zoe-follow-up-to-p in error: Agent 'zoe' not found"],
  );
});

test('[DIR-2] nothing follows what is not done, names nobody, or has no result', () => {
  const { result: asked } = result('bob');
  for (const file of [
    given('assigned/ann/x.yaml', { status: 'in_progress', started_at_ms: NOW_MS, result: asked }),
    given('fridge/x.yaml', { result: asked }),
    given('done/x.yaml', result(undefined)),
    given('done/x.yaml'),
  ])
    assert.deepEqual(said(planned([file])), [], file.path);
});

test('[DIR-5] what has been done for thirty days goes to the month in which it was done', () => {
  const old_ms = NOW_MS - 30 * DAY_MS;
  const pass = planned([
    given('done/old.yaml', { completed_at_ms: old_ms }),
    given('done/ann/older.yaml', { completed_at_ms: Date.UTC(2025, 11, 31, 23, 59, 59) }),
    given('done/young.yaml', { completed_at_ms: old_ms + 1000 }),
    given('done/said.yaml', { completed_at_ms: old_ms, status: 'archived', archived_at_ms: NOW_MS }),
  ]);
  assert.deepEqual(said({ ...pass, archiving: [] }), [
    'set old status=archived archived_at',
    'set older status=archived archived_at',
  ]);
  assert.deepEqual(said({ ...pass, actions: [] }), [
    'move done/old.yaml archive/2026-02/old.yaml',
    'move done/ann/older.yaml archive/2025-12/older.yaml',
    'move done/said.yaml archive/2026-02/said.yaml',
  ]);
  assert.deepEqual(
    pass.staying.map(({ task }) => task.id),
    ['young'],
  );
});

test('[DIR-5] what names its next agent is chained before it is archived, and not twice after', () => {
  const old = { ...parent, task: { ...parent.task, completed_at_ms: NOW_MS - 40 * DAY_MS } };
  const tree = treeOf([old]);
  const first = plan(tree, NOW_MS, DEFAULT_WORKDIR);
  const lines = said(first);
  assert.ok(lines[0]?.startsWith('create inbox/'));
  assert.equal(lines.at(-1), 'move done/p.yaml archive/2026-01/p.yaml');
  const second = plan(done(tree, [...first.actions, ...first.archiving]), NOW_MS, DEFAULT_WORKDIR);
  assert.deepEqual(said(second), []);
});

test('[DIR-5] in the archive it keeps the name that people gave it, and never takes that of another file', () => {
  const renamed = (path: string, id: string) => {
    const file = given(path, { completed_at_ms: 0 });
    return { ...file, task: { ...file.task, id } };
  };
  const file = renamed('done/renamed.yml', 'x');
  assert.equal(said(planned([file])).at(-1), 'move done/renamed.yml archive/1970-01/renamed.yml');
  const taken = planned([file], { unreadable: ['archive/1970-01/renamed.yml'] });
  assert.equal(said(taken).at(-1), 'move done/renamed.yml archive/1970-01/x.yaml');
  const both = planned([file], { unreadable: ['archive/1970-01/renamed.yml', 'archive/1970-01/x.yaml'] });
  assert.deepEqual(said(both), []);
  const two = planned([renamed('done/ann/login.yaml', 'a1'), renamed('done/bob/login.yaml', 'b1')]);
  assert.deepEqual(said(two).slice(-2), [
    'move done/ann/login.yaml archive/1970-01/login.yaml',
    'move done/bob/login.yaml archive/1970-01/b1.yaml',
  ]);
});

test('[DIR-6] of two names of one file the older goes, before anything else', () => {
  const moved = given('assigned/ann/x.yaml', { status: 'new' });
  const pass = planned([moved], { twins: [['inbox/x.yaml', 'assigned/ann/x.yaml']] });
  assert.deepEqual(said(pass), ['drop inbox/x.yaml', 'set x status=assigned assigned_at']);
  assert.equal(pass.actions[0]?.id, 'x', 'nothing is done to it if that fails');
});
