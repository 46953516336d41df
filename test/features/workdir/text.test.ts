import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseTask } from '../../../src/features/workdir/files/task-yaml.ts';
import { rewriteTask } from '../../../src/features/workdir/folder/task-text.ts';
import { Ground, task } from './ground.ts';

const AT = '2026-03-10T12:00:00Z';

/** Before, and what a pass makes of it: an assignment, or an error for want of the agent. */
const CASES: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    'comments, order, unknown keys, blank lines',
    `# the login\n\nstatus: new   # as yet\nmode: /analysis-mode\n\nid: x\nx-ours: {a: [1, 2],  b: "c"}\nagent:   ann\nartefacts:\n    - "docs/x.md"   # first\n    - 'docs/y.md'\n# the end\n`,
    `# the login\n\nstatus: assigned   # as yet\nmode: /analysis-mode\n\nid: x\nx-ours: {a: [1, 2],  b: "c"}\nagent:   ann\nassigned_at: ${AT}\nartefacts:\n    - "docs/x.md"   # first\n    - 'docs/y.md'\n# the end\n`,
  ],
  [
    'lines as on Windows',
    'id: x\r\nagent: ann\r\nstatus: new\r\nartefacts: [a]\r\n',
    `id: x\r\nagent: ann\r\nstatus: assigned\r\nassigned_at: ${AT}\r\nartefacts: [a]\r\n`,
  ],
  [
    'quotes',
    `"id": 'x'\n"agent": "ann"\n"status": "new"\n"artefacts": []\nassigned_at: "2020-01-01T00:00:00Z"\n`,
    `"id": 'x'\n"agent": "ann"\n"status": "assigned"\n"artefacts": []\nassigned_at: "${AT}"\n`,
  ],
  [
    'no end of line at the end',
    'artefacts: [a]\nid: x\nagent: ann\nstatus: new',
    `artefacts: [a]\nid: x\nagent: ann\nstatus: assigned\nassigned_at: ${AT}`,
  ],
  [
    'a document’s marks and a byte order mark',
    '\uFEFF---\nid: x\nagent: ann\nstatus: new\nartefacts: [a]\n...\n',
    `\uFEFF---\nid: x\nagent: ann\nstatus: assigned\nassigned_at: ${AT}\nartefacts: [a]\n...\n`,
  ],
  [
    'text in blocks, anchors, empty values',
    'id: x\nagent: ann\nstatus: new\nassigned_at:\ntitle: >-\n  a long\n  title\nartefacts: &files [a, b]\nnotes: |\n  status: done\n\n  agent: bob\nsame: *files\n',
    `id: x\nagent: ann\nstatus: assigned\nassigned_at: ${AT}\ntitle: >-\n  a long\n  title\nartefacts: &files [a, b]\nnotes: |\n  status: done\n\n  agent: bob\nsame: *files\n`,
  ],
  [
    'an error in the place of nothing',
    `id: x\nagent: zoe\nstatus: new  # now\nartefacts: [a]\nresult: null\nerror: null  # none\nlast: 1\n`,
    `id: x\nagent: zoe\nstatus: error  # now\nartefacts: [a]\nresult: null\nerror:  # none\n  message: Agent 'zoe' not found\n  timestamp: ${AT}\nlast: 1\n`,
  ],
  [
    'an error in the place of another',
    `id: x\nagent: zoe\nstatus: new\nartefacts: [a]\nerror:\n  message: "gone"  # why\n  retry_count: 2\n  timestamp: 2020-01-01T00:00:00Z\n`,
    `id: x\nagent: zoe\nstatus: error\nartefacts: [a]\nerror:\n  message: "Agent 'zoe' not found"  # why\n  retry_count: 2\n  timestamp: ${AT}\n`,
  ],
  [
    'an error in the place of nothing but a comment',
    `id: x\nagent: zoe\nstatus: new\nartefacts: [a]\nerror: # none yet\nlast: 1\n`,
    `id: x\nagent: zoe\nstatus: error\nartefacts: [a]\nerror: # none yet\n  message: Agent 'zoe' not found\n  timestamp: ${AT}\nlast: 1\n`,
  ],
];

for (const [what, before, after] of CASES)
  test(`[DIR-1] ${what}: every byte stays but the values that change`, async () => {
    using ground = new Ground({ 'inbox/x.yaml': before });
    const { problems, left } = await ground.pass();
    assert.deepEqual([problems, left], [[], []]);
    const path = ground.has('inbox/x.yaml') ? 'inbox/x.yaml' : 'assigned/ann/x.yaml';
    assert.equal(ground.read(path), after);
    assert.equal(parseTask(after).ok, true);
  });

test('what can’t be changed in place is written anew, and says the same besides', () => {
  const flow = '{id: x, agent: ann, status: new, artefacts: [a], "k": {z: 1}} # all in one\n';
  const rewritten = rewriteTask(flow, { status: 'assigned', assigned_at_ms: 0 });
  assert.ok('text' in rewritten);
  assert.match(rewritten.text, /status: assigned.*k.*z: 1.*# all in one/s);
  assert.equal(parseTask(rewritten.text).ok, true);
});

test('[DIR-8] a result is read and never written, whatever shape it has', async () => {
  const RESULTS = [
    'result:\n  summary: "a  b"   # kept\n  next_agent: bob\n  extra: [ 1,2 ]\n',
    'result: {summary: all,   next_agent: bob}\n',
    'result:\n    next_agent: "bob"\n    completed_at: 2026-03-09T10:00:00.250+01:00\n',
    'result: |\n  only words\n',
  ];
  for (const text of RESULTS) {
    using ground = new Ground({ 'done/x.yaml': task('x', { status: 'in_progress' }, text) });
    await ground.pass();
    const after = ground.read('done/x.yaml');
    assert.ok(after.endsWith(text), after);
  }
});

test('[DIR-2] a follow-up is a task like any other, and says where it comes from', async () => {
  const result =
    'result:\n  next_agent: bob\n  next_task_title: "Yes: check # it"\n  next_task_notes:\n    - "1"\n';
  const done = task('x', { status: 'done', completed_at: '2026-03-09T08:30:00Z', priority: 'high' }, result);
  using ground = new Ground({ 'done/x.yaml': done });
  await ground.pass();
  const id = '2026-03-09T0830-bob-yes-check-it';
  assert.equal(
    ground.read(`assigned/bob/${id}.yaml`),
    `id: ${id}
agent: bob
status: assigned
title: "Yes: check # it"
priority: high
artefacts:
  - docs/x.md
context:
  notes:
    - "1"
  previous_task: x
  previous_agent: ann
created_at: ${AT}
assigned_at: ${AT}
created_by: coordinator
`,
  );
  assert.ok(ground.read('done/x.yaml').includes(`completed_at: 2026-03-09T08:30:00Z\nfollow_up: ${id}\n`));
});

test('[DIR-8] a result that says its agent by an alias says the same after the task is given to another', async () => {
  using ground = new Ground({
    'assigned/bob/x.yaml':
      'id: x\nagent: &who ann\nstatus: &now new\nbegan_as: *now\nartefacts: [a]\nresult: { next_agent: *who }\n',
  });
  const { left } = await ground.pass();
  assert.deepEqual(left, []);
  const { agent, status, began_as, result } = parse(ground.read('assigned/bob/x.yaml'));
  assert.deepEqual([agent, status], ['bob', 'assigned']);
  assert.deepEqual([began_as, result], ['new', { next_agent: 'ann' }]);
});
