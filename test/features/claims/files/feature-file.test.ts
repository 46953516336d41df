import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { parseFeature } from '../../../../src/features/claims/files/feature-file.ts';
import { parseModules } from '../../../../src/features/claims/files/modules-file.ts';
import type { Feature } from '../../../../src/features/claims/routing/feature.ts';
import { readPlain } from '../../../../src/storage/plain-yaml.ts';

const place = { file: 'features/f.yml', touched_ms: 7 };

async function feature(text: string): Promise<Feature> {
  const parsed = await parseFeature(text, place);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.feature;
}

async function problems(text: string): Promise<string[]> {
  const parsed = await parseFeature(text, place);
  assert.ok(!parsed.ok, 'it was taken');
  return parsed.problems.map(({ line, field, reason }) => `${line} ${field}: ${reason}`);
}

const edges = ({ trajectory }: Feature) => trajectory.map(({ edge, status }) => `${edge} ${status}`);

test('[CLAIM-7] a feature vector as other implementations write it', async () => {
  const read = await feature(`# a comment
---
feature: "REQ-F-AUTH-001"
title: 'Sign in: with a key'
intent: INT-1
vector_type: feature
profile: standard
status: in_progress
priority: high
time_box:
  enabled: true
  duration: 1 week
  started: "2026-03-01T00:00:00Z"
parent:
  feature: ""
children: []
trajectory:
  requirements:
    status: converged
    iteration: 2
    notes: |
      folded: text
  design: { status: in_progress }
  code:
    status: pending
  unit_tests: pending
dependencies:
  - feature: REQ-F-DB-001
    asset: code
    status: pending
  - REQ-F-KEY-001
  - { feature: REQ-F-OLD-001, status: resolved }
constraints:
  acceptance_criteria: []
modules: [auth, db, auth]
`);
  assert.deepEqual(read, {
    feature: 'REQ-F-AUTH-001',
    title: 'Sign in: with a key',
    vector_type: 'feature',
    status: 'in_progress',
    priority: 3,
    time_box_ends_ms: Date.parse('2026-03-08T00:00:00Z'),
    trajectory: [
      { edge: 'intent_requirements', from: 'intent', to: 'requirements', status: 'converged' },
      { edge: 'requirements_design', from: 'requirements', to: 'design', status: 'iterating' },
      { edge: 'design_code', from: 'design', to: 'code', status: 'pending' },
      { edge: 'code_unit_tests', from: 'code', to: 'unit_tests', status: 'pending' },
    ],
    modules: ['auth', 'db'],
    dependencies: [
      { feature: 'REQ-F-DB-001', asset: 'code', resolved: false },
      { feature: 'REQ-F-KEY-001', asset: undefined, resolved: false },
      { feature: 'REQ-F-OLD-001', asset: undefined, resolved: true },
    ],
    touched_ms: 7,
    file: 'features/f.yml',
  });
});

test('[CLAIM-7] trajectories: of assets, of edges in any spelling, with steps in between, or of nothing', async () => {
  assert.deepEqual(edges(await feature('feature: f')), [
    'intent_requirements pending',
    'requirements_design pending',
    'design_code pending',
    'code_unit_tests pending',
  ]);
  const spelled =
    'feature: f\ntrajectory:\n  "intent→requirements": converged\n  design->code: iterating\n  code_unit_tests: pending\n';
  assert.deepEqual(edges(await feature(spelled)), [
    'intent_requirements converged',
    'design_code iterating',
    'code_unit_tests pending',
  ]);
  const between =
    'feature: f\ntrajectory: {intent: {status: converged}, requirements: {}, decomposition: {}, design: {}, code: {}, uat_tests: {}}';
  assert.deepEqual(edges(await feature(between)), [
    'intent_requirements pending',
    'requirements_decomposition pending',
    'decomposition_design pending',
    'design_code pending',
    'design_uat_tests pending',
  ]);
});

test('[CLAIM-7] modules that nobody has filled in are not known; other words for a status are neither done nor to do', async () => {
  for (const text of ['feature: f', 'feature: f\nmodules: []', 'feature: f\nmodules:'])
    assert.equal((await feature(text)).modules, undefined, text);
  const read = await feature(
    'feature: f\nstatus: design_pending\nvector_type: epic\ntrajectory: {code: {status: Converged}}',
  );
  assert.deepEqual(
    [read.status, read.vector_type, edges(read)],
    ['in_progress', 'feature', ['design_code converged']],
  );
});

test('[CLAIM-7] mistakes are told with their lines', async () => {
  assert.deepEqual(await problems('title: x'), ['1 feature: expected string, received undefined']);
  assert.match((await problems('feature: f\ntrajectory:\n  code: [1]\n')).join(), /^3 trajectory\.code/);
  assert.match((await problems('feature: f\ndependencies:\n  - asset: code\n')).join(), /^3 dependencies\.0/);
  assert.match((await problems('feature: "a\\u001bb"')).join(), /printable/);
  assert.match((await problems('feature: f\nfeature: g')).join(), /^2 file: .*unique/);
  assert.match(
    (await problems(`feature: f\nx: ${'['.repeat(100_000)}`)).join(),
    /^2 file: nested too deeply/,
  );
  assert.match((await problems(`feature: ${'f'.repeat(201)}`)).join(), /at most 200/);
});

test('[CLAIM-7] modules in any of three shapes; the same one twice builds on both', () => {
  const expected = { modules: { api: ['db', 'log'], db: [] }, problems: [] };
  assert.deepEqual(parseModules('modules: {api: {depends_on: [db, log]}, db: {}}'), expected);
  assert.deepEqual(parseModules('modules: {api: [db, log], db: }'), expected);
  assert.deepEqual(
    parseModules('modules: [{name: api, depends_on: [db]}, {name: db}, {name: api, depends_on: [log]}]'),
    { ...expected, modules: { api: ['db', 'log'], db: [] } },
  );
  assert.match(
    parseModules('modules:\n  api: 7')
      .problems.map(({ line }) => line)
      .join(),
    /^2$/,
  );
});

const WANTED = new Set(['feature', 'status', 'trajectory', 'dependencies', 'modules']);

/** Undefined: it is no YAML. */
function whole(text: string): Record<string, unknown> | null | undefined {
  try {
    return parse(text) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
}

const words = [
  'f',
  'a b',
  'x:y',
  'no',
  'null',
  '~',
  '12',
  '-3',
  '1.5',
  '0x1',
  '"q # r"',
  "'it'",
  '"\\u2192"',
  '[a, b]',
  '[]',
  '{}',
];
const odd = [
  '&a x',
  '*a',
  '!t x',
  '|',
  '>',
  '@x',
  '`x`',
  '%x',
  '? x',
  '- x',
  'a: b',
  'a #b',
  '"open',
  "'open",
  '[a',
  '1e3',
  '.inf',
  '..',
  '.x',
  'y',
  'True',
  '<<',
  '# c',
  '"a" b',
  '😀',
];
const keys = [
  'feature',
  'status',
  'trajectory',
  'dependencies',
  'modules',
  'title',
  'a',
  '"b→c"',
  'design->code',
  "'q'",
  'null',
  '1',
];

/** Lines that look like a feature file, and now and then like something else. */
const files = fc
  .array(
    fc.tuple(
      fc.constantFrom(0, 0, 2, 2, 4, 1),
      fc.constantFrom('', '', '', '- '),
      fc.constantFrom(...keys),
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('', ...words) },
        { weight: 1, arbitrary: fc.constantFrom(...odd) },
      ),
      fc.constantFrom('', '', '', ' # why', '\n', '\n  going on', '\n# c'),
    ),
    { maxLength: 8 },
  )
  .map((lines) =>
    lines
      .map(([indent, dash, key, value, end]) => `${' '.repeat(indent)}${dash}${key}: ${value}${end}`)
      .join('\n'),
  );

test('what is read the quick way is what the whole language says, mistakes included', () => {
  const all = new Set(keys.map((key) => key.replaceAll(/^["']|["']$/g, '')).concat(keys));
  let quick = 0;
  const compare = fc.property(files, (text) => {
    const read = readPlain(text, all);
    if (read === undefined) return;
    quick += 1;
    assert.deepEqual(read, whole(text) ?? {}, text);
    assert.notEqual(whole(text), undefined, text);
  });
  fc.assert(compare, { numRuns: 3000 });
  assert.ok(quick > 200, `only ${quick} were read the quick way`);
});

test('what nobody asked for may be anything, and changes nothing about the rest', () => {
  let quick = 0;
  const compare = fc.property(files, (text) => {
    const [read, expected] = [readPlain(text, WANTED), whole(text)];
    if (read === undefined || expected === undefined) return;
    quick += 1;
    const wanted = Object.entries(expected ?? {}).filter(([key]) => WANTED.has(key));
    assert.deepEqual(read, Object.fromEntries(wanted), text);
  });
  fc.assert(compare, { numRuns: 3000 });
  assert.ok(quick > 200, `only ${quick} were read the quick way`);
});

test('the quick way: what it must not guess at', () => {
  for (const text of [
    'feature: &a f',
    'status: *a',
    'feature: |\n  x',
    'feature: a\n  b',
    'feature: f\n...\nfeature: g',
    'feature: 1.0',
    'status: yes',
    'notes: "a\nstatus: converged\n"',
    'feature:\tf',
    '{feature: f}',
    'feature: f\nfeature: g',
    'feature: a: b',
  ])
    assert.equal(readPlain(text, WANTED), undefined, text);
});
