import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, found, given, HOUR_MS, NOW_MS, planned, said } from './workdir-facts.ts';

const working = (name: string, artefacts: readonly string[], agent = 'ann', ago_ms = 60_000) =>
  given(`assigned/${agent}/${name}.yaml`, {
    status: 'in_progress',
    started_at_ms: NOW_MS - ago_ms,
    artefacts,
  });

const conflicts = (...pairs: (readonly string[])[]) =>
  found(planned(pairs.map((artefacts, n) => working(`t${n}`, artefacts)))).map((line) =>
    line.replace(/^conflict : Conflict: /, ''),
  );

test('[DIR-3] tasks in progress with the same artefact are warned about, in the seed’s words', () => {
  assert.deepEqual(found(planned([working('a', ['docs/x.md']), working('b', ['docs/x.md'], 'bob')])), [
    'conflict : Conflict: docs/x.md targeted by a, b',
  ]);
});

test('[DIR-3] spellings of one path are one artefact; folders and patterns reach what is in them', () => {
  for (const [one, other, name] of [
    ['docs/x.md', './docs//x.md', './docs//x.md'],
    ['docs/x.md', 'docs/a/../x.md', 'docs/a/../x.md'],
    ['docs\\x.md', 'docs/x.md', 'docs/x.md'],
    ['cafe\u0301.md', 'caf\u00e9.md', 'cafe\u0301.md'],
    ['docs/', 'docs/deep/x.md', 'docs/deep/x.md'],
    ['docs', 'docs/x.md', 'docs'],
    ['docs/*.md', 'docs/x.md', 'docs/x.md'],
    ['src/**/*.ts', 'src/a/b/c.ts', 'src/a/b/c.ts'],
    ['./', 'anything.txt', 'anything.txt'],
    [' docs/x.md ', 'docs/x.md', ' docs/x.md '],
  ] as const)
    assert.deepEqual(conflicts([one], [other]), [`${name} targeted by t0, t1`], `${one} and ${other}`);
});

test('[DIR-3] what only looks alike is no conflict, nor what leads out of the repository', () => {
  for (const [one, other] of [
    ['docs/x.md', 'docs/x.mdx'],
    ['docs', 'docs-old/x.md'],
    ['docs/*.md', 'docs/deep/x.md'],
    ['Docs/x.md', 'docs/x.md'],
    ['../x', '../x'],
    ['/etc/hosts', '/etc/hosts'],
    ['', ''],
  ] as const)
    assert.deepEqual(conflicts([one], [other]), [], `${one} and ${other}`);
  assert.deepEqual(conflicts(['a', 'a', './a']), [], 'nobody is in conflict with oneself');
});

test('[DIR-3] all who are about one artefact stand in one line, and each artefact has its own', () => {
  assert.deepEqual(conflicts(['x', 'y'], ['x'], ['y', 'x']), [
    'x targeted by t0, t1, t2',
    'y targeted by t0, t2',
  ]);
});

test('[DIR-3] only what is in progress counts, and the conflict began with the last of them', () => {
  const one = working('a', ['x'], 'ann', 3000);
  const other = working('b', ['x'], 'bob', 1000);
  const [conflict] = planned([one, other]).findings;
  assert.equal(conflict?.at_ms, NOW_MS - 1000);
  for (const file of [
    given('assigned/bob/b.yaml', { artefacts: ['x'] }),
    given('assigned/bob/b.yaml', { artefacts: ['x'], status: 'error', error: { message: 'm', at_ms: 1 } }),
    given('done/b.yaml', { artefacts: ['x'] }),
    given('fridge/b.yaml', { artefacts: ['x'], status: 'in_progress' }),
  ])
    assert.ok(!found(planned([one, file])).some((line) => line.startsWith('conflict')), file.path);
});

test('[DIR-3] serialise_conflicts: what would change the same waits in the inbox, the urgent one goes', () => {
  const settings = { serialise_conflicts: true };
  const low = given('inbox/low.yaml', { artefacts: ['docs/'], priority: 'low' });
  const high = given('inbox/high.yaml', { artefacts: ['docs/x.md'], priority: 'high' });
  const other = given('inbox/other.yaml', { artefacts: ['src/x.ts'] });
  const pass = planned([low, high, other], { settings });
  assert.deepEqual(
    pass.actions.flatMap((action) => (action.kind === 'move' ? [action.id] : [])),
    ['high', 'other'],
  );
  assert.deepEqual(found(pass), ['waiting low: waits for high, which is to change docs/x.md']);
  const busy = given('assigned/bob/busy.yaml', { artefacts: ['docs/y.md'] });
  assert.deepEqual(found(planned([low, busy], { settings })), [
    'waiting low: waits for busy, which is to change docs/y.md',
  ]);
  assert.equal(found(planned([low, high, busy])).length, 0, 'not asked for, they are only warned about');
});

test('[DIR-4] in progress for two hours: stalled, in the seed’s words, since the moment it became so', () => {
  const settings = { silent_ms: DAY_MS };
  const stalled = (ago_ms: number, over = {}) =>
    planned([working('x', [], 'ann', ago_ms)], { settings: { ...settings, ...over } }).findings;
  assert.deepEqual(stalled(2 * HOUR_MS - 1000), []);
  assert.deepEqual(stalled(5 * HOUR_MS), [
    {
      kind: 'stalled',
      id: 'x',
      agent: 'ann',
      text: 'Task x stalled (>2h)',
      at_ms: NOW_MS - 3 * HOUR_MS,
    },
  ]);
  const [half] = stalled(HOUR_MS, { timeout_ms: HOUR_MS / 2 });
  assert.equal(half?.text, 'Task x stalled (>0.5h)');
});

test('[DIR-4] without a start the assignment counts; without any time nobody can say', () => {
  const at = (over = {}) =>
    found(planned([given('assigned/ann/x.yaml', { status: 'in_progress', ...over })]));
  assert.deepEqual(at({ assigned_at_ms: NOW_MS - 3 * HOUR_MS }), ['stalled x: Task x stalled (>2h)']);
  assert.deepEqual(at({ assigned_at_ms: undefined }), []);
});

test('[DIR-4] an agent that has had work for a day and gives no sign is silent; being given more is no sign', () => {
  const waits = given('assigned/ann/x.yaml', { assigned_at_ms: NOW_MS - 25 * HOUR_MS });
  const fresh = given('assigned/ann/y.yaml', { assigned_at_ms: NOW_MS - HOUR_MS });
  const pass = planned([waits, fresh]);
  assert.deepEqual(found(pass), ['silent ann: Agent ann without activity since 2026-03-09 11:00 UTC']);
  assert.equal(pass.findings[0]?.at_ms, NOW_MS - HOUR_MS);
  const done = given('done/z.yaml', { agent: 'ann', completed_at_ms: NOW_MS - 2 * HOUR_MS });
  assert.deepEqual(found(planned([waits, done])), [], 'it ended something meanwhile');
  assert.deepEqual(found(planned([fresh])), []);
  assert.deepEqual(found(planned([])), [], 'who has nothing to do may be silent');
});

test('[DIR-4] errors are found with their message and their own time', () => {
  const error = { message: 'no such table', at_ms: NOW_MS - HOUR_MS };
  const pass = planned([
    given('assigned/ann/x.yaml', { status: 'error', error }),
    given('assigned/bob/y.yaml', { status: 'error' }),
  ]);
  assert.deepEqual(
    pass.findings.map(({ text, at_ms }) => [text, at_ms]),
    [
      ['Task x in error: no such table', NOW_MS - HOUR_MS],
      ['Task y in error: no message', NOW_MS - HOUR_MS],
    ],
  );
});

test('[DIR-7] in an agent’s folder it is that agent’s, and becomes assigned', () => {
  const change = (over: Parameters<typeof given>[1]) => said(planned([given('assigned/bob/x.yaml', over)]));
  assert.deepEqual(change({ agent: 'ann' }), ['set x agent=bob assigned_at']);
  assert.deepEqual(change({ agent: 'ann', status: 'new' }), ['set x agent=bob status=assigned assigned_at']);
  for (const status of ['in_progress', 'error', 'done', 'archived'] as const)
    assert.deepEqual(
      change({ agent: 'ann', status }),
      ['set x agent=bob status=assigned assigned_at'],
      `${status}: whoever has it now has not begun with it`,
    );
  for (const status of ['new', 'archived'] as const)
    assert.deepEqual(change({ status }), ['set x status=assigned assigned_at'], `${status}, opened again`);
  for (const status of ['assigned', 'in_progress', 'blocked', 'error', 'done'] as const)
    assert.deepEqual(change({ status }), [], `${status} goes on`);
});

test('[DIR-7] in done/ it is done, with or without a result, since its result says or since it was seen there', () => {
  const at = (over: Parameters<typeof given>[1]) =>
    planned([given('done/x.yaml', { completed_at_ms: undefined, ...over })]).actions.map(
      (action) => action.kind === 'update' && action.changes,
    );
  for (const status of ['new', 'assigned', 'in_progress', 'error'] as const)
    assert.deepEqual(at({ status }), [{ status: 'done', completed_at_ms: NOW_MS }], status);
  assert.deepEqual(at({ status: 'done' }), [{ completed_at_ms: NOW_MS }]);
  const ended_ms = NOW_MS - HOUR_MS;
  assert.deepEqual(
    at({ status: 'in_progress', result: { completed_at_ms: ended_ms + 789 } }),
    [{ status: 'done', completed_at_ms: ended_ms }],
    'to the second, as it is written',
  );
  assert.deepEqual(at({ status: 'archived', completed_at_ms: ended_ms }), []);
});

test('[DIR-7] moved back to the inbox it is assigned anew, to whom it says', () => {
  const back = given('inbox/x.yaml', { agent: 'bob', status: 'in_progress', assigned_at_ms: 1000 });
  assert.deepEqual(said(planned([back])), [
    'set x status=assigned assigned_at',
    'move inbox/x.yaml assigned/bob/x.yaml',
  ]);
});
