import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { parseFeature } from '../../../../src/features/claims/files/feature-file.ts';
import type { ViewedClaim } from '../../../../src/features/claims/views/claims-read.ts';
import { rewriteFeature } from '../../../../src/features/claims/views/feature-text.ts';

const STARTED_MS = Date.UTC(2026, 1, 23, 10, 30);
const CONVERGED_MS = Date.UTC(2026, 1, 24, 8);

function claim(edge: string, change: Partial<ViewedClaim> = {}): ViewedClaim {
  return {
    feature: 'AUTH-1',
    edge,
    written: edge,
    status: 'iterating',
    started_at_ms: STARTED_MS,
    ...change,
  };
}

function converged(edge: string, iteration?: number): ViewedClaim {
  return claim(edge, { status: 'converged', converged_at_ms: CONVERGED_MS, iteration });
}

function rewritten(text: string, ...claims: ViewedClaim[]): string {
  const result = rewriteFeature(text, claims);
  assert.ok('text' in result, JSON.stringify(result));
  // What it has written it has nothing more to say about.
  assert.deepEqual(rewriteFeature(result.text, claims), result);
  return result.text;
}

const FILE = `# Written by hand, mostly.
feature:   "AUTH-1"     # the id
title: 'Sign in'
status: "pending"

trajectory:
    requirements: { status: converged, iteration: 2 }   # long ago
    design:
        status: iterating  # nearly
        iteration: 1
        started_at: 2026-02-23T10:30:00Z
        # alice knows more about this
        owner: alice

    code:
        status: pending
x_unknown: [ a,   b ]
notes: |
    first

    last
`;

test('[CLAIM-13] only the values that differ change; comments, order, quotes and spacing stay', () => {
  const text = rewritten(FILE, converged('requirements_design', 3), claim('design_code', { iteration: 0 }));
  assert.equal(
    text,
    FILE.replace('"pending"', '"in_progress"')
      .replace(
        'status: iterating  # nearly\n        iteration: 1',
        'status: converged  # nearly\n        iteration: 3',
      )
      .replace(
        'started_at: 2026-02-23T10:30:00Z\n',
        'started_at: 2026-02-23T10:30:00Z\n        converged_at: 2026-02-24T08:00:00.000Z\n',
      )
      .replace(
        'status: pending\nx_',
        'status: iterating\n        iteration: 0\n        started_at: 2026-02-23T10:30:00.000Z\nx_',
      ),
  );
});

test('[CLAIM-13] a file that says it already stays as it is, byte for byte, whatever its line ends', () => {
  const text = rewritten(FILE, converged('requirements_design', 3));
  assert.equal(rewritten(text, converged('requirements_design', 3)), text);
  const windows = FILE.replaceAll('\n', '\r\n');
  const there = rewritten(windows, claim('design_code'));
  assert.doesNotMatch(there, /[^\r]\n/, 'new lines end as all others do');
  assert.equal(parse(there).trajectory.code.status, 'iterating');
});

test('[CLAIM-13] a trajectory in every way in which people write one', () => {
  const say = (trajectory: string, ...claims: ViewedClaim[]) =>
    parse(rewritten(`feature: F\n# kept\n${trajectory}`, ...claims)) as {
      trajectory: object;
      status?: string;
    };
  const code = { status: 'iterating', started_at: '2026-02-23T10:30:00.000Z' };
  assert.deepEqual(say('trajectory:\n  code:\n', claim('design_code')).trajectory, { code });
  assert.deepEqual(say('trajectory:\n  code: ~\n', claim('design_code')).trajectory, { code });
  assert.deepEqual(say('trajectory: {code: {status: pending}}\n', claim('design_code')).trajectory, { code });
  const short = say('trajectory: {code: pending, design: converged}\n', claim('design_code'));
  assert.deepEqual(short.trajectory, { code: 'iterating', design: 'converged' });
  assert.deepEqual(
    say('trajectory:\n  design→code:\n    status: pending\n', claim('design_code')).trajectory,
    {
      'design→code': code,
    },
  );
  // The asset that an edge leads to: `unit_tests`, not `tests`.
  const both = say('trajectory:\n  tests: {}\n  unit_tests: {}\n', claim('code_unit_tests'));
  assert.deepEqual(both.trajectory, { tests: {}, unit_tests: code });
  const added = say('trajectory:\n  code:\n    status: converged\n', claim('x_y', { written: 'x → y' }));
  assert.deepEqual(added.trajectory, { code: { status: 'converged' }, y: code });
});

test('[CLAIM-13] a file that names no step has the usual ones before and after one of them is written down', async () => {
  for (const trajectory of ['', 'trajectory:\n', 'trajectory: {}\n', 'trajectory:\n  intent: converged\n']) {
    const text = rewritten(`feature: F\n${trajectory}`, converged('intent_requirements'));
    const read = await parseFeature(text, { file: 'f.yml', touched_ms: 0 });
    assert.ok(read.ok, text);
    assert.doesNotMatch(text, /^status/m, 'a file without a status gets none');
    assert.deepEqual(
      read.feature.trajectory.map(({ edge, status }) => [edge, status]),
      [
        ['intent_requirements', 'converged'],
        ['requirements_design', 'pending'],
        ['design_code', 'pending'],
        ['code_unit_tests', 'pending'],
      ],
    );
  }
});

test('[CLAIM-13] the feature itself: begun, converged when all of it is, and what a person held back stays so', () => {
  const status = (now: string, trajectory: string, ...claims: ViewedClaim[]) =>
    (parse(rewritten(`status: ${now}\ntrajectory: ${trajectory}\n`, ...claims)) as { status: string }).status;
  assert.equal(status('pending', '{code: {}, design: {}}', claim('design_code')), 'in_progress');
  assert.equal(status('in_progress', '{code: {}}', converged('design_code')), 'converged');
  assert.equal(status('in_progress', '{code: {}, cicd: pending}', converged('design_code')), 'in_progress');
  assert.equal(status('converged', '{code: {status: converged}}', claim('design_code')), 'in_progress');
  assert.equal(status('blocked', '{code: {}}', claim('design_code')), 'blocked');
  assert.equal(status('pending', '{code: {}}', claim('design_code', { status: 'pending' })), 'pending');
  const again = rewritten(
    'trajectory:\n  code:\n    status: converged\n    converged_at: 2026-01-01T00:00:00Z\n',
    claim('design_code'),
  );
  assert.equal(parse(again).trajectory.code.converged_at, null, 'taken up again, it has not converged');
});

test('[CLAIM-13] a file that cannot be read is left alone, and said to be', () => {
  for (const text of [
    'a: [',
    '- a\n',
    'a: 1\na: 2\n',
    '--- {}\n--- {}\n',
    'text',
    'trajectory: &a { x: *a }\n',
  ])
    assert.ok('problem' in rewriteFeature(text, [claim('design_code')]), text);
});

test('[CLAIM-13] whatever else is in a file survives', () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const inner = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,6}$/),
    fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
  );
  fc.assert(
    fc.property(inner, inner, fc.boolean(), (others, entry, flow) => {
      const file = { others, trajectory: { code: entry, design: { note: 'x' } }, last: 1 };
      const text = flow ? `${JSON.stringify(file)}\n` : `# a\n${JSON.stringify(file, undefined, 2)}\n# b\n`;
      const after = parse(rewritten(text, converged('design_code', 7))) as typeof file;
      assert.deepEqual(after.others, JSON.parse(JSON.stringify(others)));
      assert.partialDeepStrictEqual(after.trajectory.code, { status: 'converged', iteration: 7 });
      for (const [key, value] of Object.entries(entry))
        if (!['status', 'iteration'].includes(key)) assert.deepEqual(after.trajectory.code[key], value);
      assert.deepEqual([after.trajectory.design, after.last], [{ note: 'x' }, 1]);
    }),
    { numRuns: 200 },
  );
});

test('[CLAIM-13] what has converged says nothing of the steps that were written as the same', () => {
  const file = `feature: AUTH-1
trajectory:
  requirements: &open { status: pending }
  design: *open # soon
  code: *open
`;
  const first = parse(rewritten(file, converged('intent_requirements')));
  assert.equal(first.trajectory.requirements.status, 'converged');
  assert.deepEqual(first.trajectory.design, { status: 'pending' });
  assert.deepEqual(first.trajectory.code, { status: 'pending' });
  const text = rewritten(file, converged('intent_requirements'), converged('requirements_design'));
  const second = parse(text);
  assert.equal(second.trajectory.design.status, 'converged');
  assert.deepEqual(second.trajectory.code, { status: 'pending' });
  assert.match(text, /# soon/);
});

test('[CLAIM-13] names that stand for whole maps stay right around what changes', () => {
  const file = `feature: AUTH-1
trajectory: &plan
  design: &open
    status: pending
    owner: &who alice
    also: *who
  code: *open
first_plan: *plan
`;
  const before = parse(file);
  const after = parse(rewritten(file, converged('requirements_design')));
  assert.equal(after.trajectory.design.status, 'converged');
  assert.equal(after.trajectory.design.also, 'alice');
  assert.deepEqual(after.trajectory.code, before.trajectory.code);
  assert.deepEqual(after.first_plan, before.first_plan);
});

test('[CLAIM-13] a comment behind an entry that nobody has filled in stays with it', () => {
  const text = rewritten(
    'feature: AUTH-1\ntrajectory:\n  design: # alice first\n  code: ~ # then bob\n',
    converged('requirements_design'),
    claim('design_code'),
  );
  assert.match(text, /design:\s+# alice first\n {4}status: converged/);
  assert.match(text, /code:\s+# then bob\n {4}status: iterating/);
});
