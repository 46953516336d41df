import assert from 'node:assert/strict';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Occurrence } from '../../../src/features/workdir/occurrences.ts';
import { Ground, NOW_MS, task } from './ground.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RESULT = 'result:\n  summary: all\n  next_agent: bob\n  next_task_title: Check it\n';

/** Something of everything. */
const BUSY: Readonly<Record<string, string>> = {
  'inbox/n.yaml': task('n'),
  'inbox/waits.yaml': task('waits', {}, 'context: {dependencies: [n]}\n'),
  'inbox/lost.yaml': task('lost', { agent: 'zoe' }),
  'inbox/broken.yaml': 'id: broken\nstatus: [\n',
  'assigned/ann/w1.yaml': task('w1', { status: 'in_progress', started_at: '2026-03-10T08:00:00Z' }),
  'assigned/bob/w2.yaml': task('w2', {
    agent: 'bob',
    status: 'in_progress',
    started_at: '2026-03-10T11:30:00Z',
  }),
  'assigned/bob/e.yaml': task(
    'e',
    { agent: 'bob', status: 'error' },
    'error: {message: "no", timestamp: 2026-03-10T10:00:00Z}\n',
  ),
  'assigned/bob/given.yaml': task('given'),
  'done/p.yaml': task('p', { status: 'in_progress' }, RESULT),
  'done/bob/old.yaml': task(
    'old',
    { agent: 'bob', status: 'done', completed_at: '2026-01-05T00:00:00Z' },
    RESULT,
  ),
  'fridge/f.yaml': task('f', { status: 'in_progress' }),
};

test('[DIR-6] a second pass finds nothing to do and writes nothing, nor does a tenth an hour later', async () => {
  using ground = new Ground(BUSY);
  const first = await ground.pass();
  assert.deepEqual(first.left, []);
  assert.ok(first.done.length > 10);
  const before = ground.fingerprint();
  for (let n = 0; n < 10; n += 1) {
    ground.now_ms += 60_000;
    const again = await ground.pass();
    assert.deepEqual([again.done, again.fresh, again.reports], [[], [], []]);
  }
  assert.equal(ground.fingerprint(), before);
});

test('[DIR-8] a pass changes nothing outside of the work root, no artefact and no result', async () => {
  using ground = new Ground(BUSY);
  for (const path of [
    'docs/x.md',
    'src/a.ts',
    '.git/HEAD',
    'notes.yaml',
    'inbox/trap.yaml',
    'docs/assigned/ann/t.yaml',
  ]) {
    const file = join(ground.top, 'repo', path);
    ground.write(`../repo/${path}`, task('trap'));
    assert.ok(file.startsWith(ground.top));
  }
  // What else people keep in a work directory.
  for (const path of [
    'notes/plan.md',
    'inbox/README.md',
    'assigned/ann/draft.txt',
    'done/p-artefact.md',
    'x.yaml',
  ])
    ground.write(path, 'theirs\n');
  const [outside, before] = [ground.fingerprint('repo'), ground.contents()];
  const parts = (text: string) => text.slice(text.indexOf('result:'));
  await ground.pass();
  ground.now_ms += 40 * DAY_MS;
  await ground.pass();
  assert.equal(ground.fingerprint('repo'), outside);
  const after = ground.contents();
  for (const path of [
    'notes/plan.md',
    'inbox/README.md',
    'assigned/ann/draft.txt',
    'done/p-artefact.md',
    'x.yaml',
    'fridge/f.yaml',
    'inbox/broken.yaml',
  ])
    assert.equal(after[path], before[path], path);
  const archived = Object.entries(after).filter(
    ([path]) => path.startsWith('archive/') && path.endsWith('.yaml'),
  );
  assert.deepEqual(
    archived.map(([path]) => path),
    ['archive/2026-01/old.yaml', 'archive/2026-03/p.yaml'],
  );
  for (const [path, text] of archived) assert.equal(parts(text), RESULT, path);
  const ours = /^(?:inbox|assigned|done|archive|collaboration|logs)(?:\/|$)/;
  const added = Object.keys(after).filter((path) => !(path in before));
  assert.deepEqual(
    added.filter((path) => !ours.test(path)),
    [],
  );
});

test('[DIR-6] a dry run says what would be done and changes no byte', async () => {
  using ground = new Ground(BUSY);
  const before = ground.fingerprint();
  const dry = await ground.pass({
    dry_run: true,
    escalate: () => Promise.reject(new Error('nobody is told')),
  });
  assert.equal(ground.fingerprint(), before);
  const { done, fresh, findings } = await ground.pass();
  assert.deepEqual([dry.done, dry.fresh, dry.findings], [done, fresh, findings]);
});

test('[DIR-6] a person’s edit between plan and action wins: nothing is written over, and nothing follows from it', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x'), 'inbox/y.yaml': task('y') });
  const { planned, applier } = ground.prepare();
  const edited = task('x', { agent: 'bob', title: 'mine' });
  ground.write('inbox/x.yaml', edited);
  const { left } = await applier.apply(planned.actions);
  assert.deepEqual(
    left.map(({ action, reason }) => `${action.kind} ${action.id}: ${reason}`),
    ['update x: it was changed meanwhile', 'move x: what comes before it was not done'],
  );
  assert.equal(ground.read('inbox/x.yaml'), edited);
  assert.ok(ground.has('assigned/ann/y.yaml'));
  await ground.pass();
  assert.match(ground.read('assigned/bob/x.yaml'), /^title: mine$/m);
});

test('[DIR-6] a person’s move, or a file in the way, between plan and action wins as well', async () => {
  using ground = new Ground({
    'inbox/x.yaml': task('x'),
    'inbox/y.yaml': task('y'),
    'inbox/z.yaml': task('z'),
    'inbox/b.yaml': task('b', { agent: 'bob' }),
    'done/old.yaml': task('old', {
      status: 'archived',
      completed_at: '2020-01-01T00:00:00Z',
      archived_at: '2026-03-01T00:00:00Z',
    }),
  });
  const { planned, applier } = ground.prepare();
  ground.move('inbox/x.yaml', 'fridge/x.yaml');
  ground.write('assigned/ann/y.yaml', task('y', { title: 'theirs' }));
  ground.remove('inbox/z.yaml');
  ground.remove('assigned/bob');
  ground.move('done/old.yaml', 'inbox/old.yaml');
  const { left } = await applier.apply([...planned.actions, ...planned.archiving]);
  assert.deepEqual(
    left.map(({ action, reason }) => `${action.kind} ${action.id}: ${reason}`),
    [
      'move b: it is not there any more',
      'update x: it was changed meanwhile',
      'move x: what comes before it was not done',
      'move y: y.yaml is there already',
      'update z: it was changed meanwhile',
      'move z: what comes before it was not done',
      'move old: can’t be read (ENOENT)',
    ],
  );
  assert.equal(ground.read('fridge/x.yaml'), task('x'));
  assert.match(ground.read('assigned/ann/y.yaml'), /theirs/);
  assert.ok(ground.has('inbox/y.yaml') && !ground.has('assigned/ann/z.yaml') && !ground.has('assigned/bob'));
  const { findings } = await ground.pass();
  assert.ok(findings.some(({ text }) => text === "Task b in error: Agent 'bob' not found"));
});

test('[DIR-2] a pass that was slow makes no follow-up that a quicker one has made and moved on', async () => {
  using ground = new Ground({
    'done/p.yaml': task('p', { status: 'done', completed_at: '2026-03-10T11:00:00Z' }, RESULT),
  });
  const { planned, applier } = ground.prepare();
  await ground.pass();
  const before = ground.contents();
  const { left, done } = await applier.apply(planned.actions);
  assert.deepEqual(done, []);
  assert.equal(left.length, planned.actions.length);
  assert.deepEqual(ground.contents(), before);
});

test('[DIR-6] where something could not be done, what is there is reported, not what was planned', async () => {
  const odd = task('x', { agent: 'zoe' }, 'extra:\n  - a: b: c\n');
  using ground = new Ground({ 'inbox/x.yaml': odd, 'inbox/n.yaml': task('n') });
  const told: Occurrence[] = [];
  const { findings, left } = await ground.pass({ escalate: async (each) => void told.push(each) });
  assert.deepEqual(
    left.map(({ action }) => action.id),
    ['x'],
  );
  assert.deepEqual([findings, told], [[], []], 'nobody was told of an error that stands nowhere');
  assert.match(ground.read('collaboration/WORKFLOW_LOG.md'), /Assigned n to ann/);
});

test('[DIR-6] many passes at once: every task in one place, every follow-up once, every line once', async () => {
  using ground = new Ground(BUSY);
  for (let round = 0; round < 5; round += 1) {
    for (let n = 0; n < 5; n += 1) {
      const id = `r${round}-${n}`;
      ground.write(`inbox/${id}.yaml`, task(id));
      ground.write(`done/d${id}.yaml`, task(`d${id}`, { status: 'done' }, RESULT));
    }
    await Promise.all([ground.pass(), ground.pass(), ground.pass()]);
  }
  await ground.pass();
  const { files, problems } = ground.tree();
  assert.deepEqual(
    problems.map(({ file }) => file),
    ['inbox/broken.yaml'],
  );
  const parents = files.flatMap(({ task: { previous_task = [] } }) => previous_task);
  assert.equal(parents.length, 5 * 5 + 2);
  assert.equal(new Set(parents).size, parents.length);
  for (const path of ['logs/coordinator.jsonl', 'collaboration/WORKFLOW_LOG.md']) {
    const lines = ground.read(path).split('\n').filter(Boolean);
    assert.equal(new Set(lines).size, lines.length, path);
  }
  const again = await ground.pass();
  assert.deepEqual([again.done, again.reports], [[], []]);
});

test('[DIR-6] a move that was cut short between its two names is finished, on every shelf', async () => {
  using ground = new Ground({
    'assigned/ann/x.yaml': task('x', { status: 'assigned', assigned_at: '2026-03-10T12:00:00Z' }),
  });
  linkSync(ground.at('assigned/ann/x.yaml'), ground.at('inbox/x.yaml'));
  const old = task('old', {
    status: 'archived',
    completed_at: '2026-01-01T00:00:00Z',
    archived_at: '2026-03-10T12:00:00Z',
  });
  ground.write('done/old.yaml', old);
  ground.write('archive/2026-01/other.yaml', old);
  linkSync(ground.at('done/old.yaml'), ground.at('archive/2026-01/old.yaml'));
  const { done, problems } = await ground.pass();
  assert.deepEqual(problems, []);
  assert.deepEqual(
    done.map(({ kind, id }) => `${kind} ${id}`),
    ['drop x', 'drop old'],
  );
  assert.ok(
    !ground.has('inbox/x.yaml') && !ground.has('done/old.yaml') && ground.has('archive/2026-01/old.yaml'),
  );
});

test('[DIR-6] what a killed pass was writing is removed, what a living one is writing is not', async () => {
  const gone = 4_194_305; // More than Linux ever gives out.
  const asides = [
    `inbox/.x.yaml.${gone}.1.cox`,
    `collaboration/.AGENT_STATUS.md.${gone}.7.cox`,
    `logs/.c.jsonl.${gone}.1.cox`,
    `assigned/ann/.y.yaml.${gone}.2.cox`,
  ];
  const living = `inbox/.y.yaml.${process.pid}.99999.cox`;
  using ground = new Ground(
    Object.fromEntries([...asides, living, 'inbox/.hidden.cox'].map((path) => [path, 'half'])),
  );
  await ground.pass({ dry_run: true });
  assert.ok(ground.has(asides[0] ?? ''));
  await ground.pass();
  for (const path of asides) assert.ok(!ground.has(path), path);
  assert.ok(ground.has(living) && ground.has('inbox/.hidden.cox'));
});

test('[DIR-4] people are told once of each error and each stall; again only if it could not be said, or happens again', async () => {
  using ground = new Ground({
    'assigned/ann/w.yaml': task('w', { status: 'in_progress', started_at: '2026-03-10T08:00:00Z' }),
    'assigned/bob/e.yaml': task(
      'e',
      { agent: 'bob', status: 'error' },
      'error: {message: "no", timestamp: 2026-03-10T10:00:00Z}\n',
    ),
    'inbox/n.yaml': task('n'),
  });
  const told: string[] = [];
  const pass = async () => {
    told.length = 0;
    const { problems } = await ground.pass({
      escalate: async ({ type, task: id }) => {
        told.push(`${type} ${id}`);
        if (fails) throw new Error('the line is busy');
      },
    });
    return problems.map(({ field, reason }) => `${field}: ${reason}`);
  };
  let fails = true;
  assert.deepEqual(await pass(), Array(2).fill('notification: nobody could be told: the line is busy'));
  assert.deepEqual(told, ['error e', 'stalled w']);
  assert.match(
    ground.read('logs/coordinator.jsonl'),
    /"assigned","task":"n"/,
    'what nobody is told of is known',
  );
  fails = false;
  await pass();
  assert.deepEqual(told, ['error e', 'stalled w']);
  await pass();
  assert.deepEqual(told, []);
  const text = ground.read('assigned/bob/e.yaml');
  ground.write('assigned/bob/e.yaml', text.replace('status: error', 'status: assigned'));
  await pass();
  assert.deepEqual(told, []);
  ground.write('assigned/bob/e.yaml', text.replace('10:00:00', '12:30:00'));
  await pass();
  assert.deepEqual(told, ['error e'], 'it failed again');
});

test('[DIR-4] where nobody can read what has been told, nobody is told, and that is a problem', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x', { agent: 'zoe' }), 'logs/coordinator.jsonl': '' });
  writeFileSync(ground.at('logs/coordinator.jsonl'), Buffer.from([0xff, 0xfe]));
  const { problems } = await ground.pass({ escalate: () => Promise.reject(new Error('told')) });
  assert.deepEqual(
    problems.map(({ file, reason }) => `${file} ${reason}`),
    ['logs/coordinator.jsonl no UTF-8 text'],
  );
  rmSync(ground.at('logs'), { recursive: true });
  const { problems: next } = await ground.pass({ escalate: () => Promise.reject(new Error('told')) });
  assert.deepEqual(
    next.map(({ reason }) => reason),
    ['nobody could be told: told'],
  );
});

test('[DIR-5] in work/collaboration the reports lie beside the shelves', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') }, 'work/collaboration');
  const { reports } = await ground.pass();
  assert.deepEqual(reports, ['WORKFLOW_LOG.md', 'AGENT_STATUS.md', 'logs/coordinator.jsonl']);
});

test('[DIR-7] a file that a person moves is taken at its word, in each direction', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') });
  const seen = () =>
    ground.tree().files.map(({ path, task: { agent, status } }) => `${path} ${agent} ${status}`);
  const step = async (from: string, to: string) => {
    ground.move(from, to);
    ground.now_ms += HOUR_MS;
    await ground.pass();
    return seen();
  };
  await ground.pass();
  assert.deepEqual(seen(), ['assigned/ann/x.yaml ann assigned']);
  assert.deepEqual(await step('assigned/ann/x.yaml', 'assigned/bob/x.yaml'), [
    'assigned/bob/x.yaml bob assigned',
  ]);
  assert.deepEqual(await step('assigned/bob/x.yaml', 'fridge/x.yaml'), ['fridge/x.yaml bob assigned']);
  assert.deepEqual(await step('fridge/x.yaml', 'inbox/x.yaml'), ['assigned/bob/x.yaml bob assigned']);
  assert.deepEqual(await step('assigned/bob/x.yaml', 'done/x.yaml'), ['done/x.yaml bob done']);
  assert.deepEqual(await step('done/x.yaml', 'assigned/ann/x.yaml'), ['assigned/ann/x.yaml ann assigned']);
  assert.deepEqual(await step('assigned/ann/x.yaml', 'done/ann/x.yaml'), ['done/ann/x.yaml ann done']);
  ground.now_ms = NOW_MS + 60 * DAY_MS;
  await ground.pass();
  assert.deepEqual([seen(), ground.has('archive/2026-03/x.yaml')], [[], true]);
  assert.deepEqual(await step('archive/2026-03/x.yaml', 'inbox/x.yaml'), [
    'assigned/ann/x.yaml ann assigned',
  ]);
});
