import assert from 'node:assert/strict';
import { linkSync } from 'node:fs';
import { test } from 'node:test';
import { isoTime } from '../../../src/kernel/clock.ts';
import { main } from '../../../src/transports/cli/main.ts';
import { fakeTerminal } from '../../transports/support.ts';
import { Ground, NOW_MS, task } from './ground.ts';

const ago = (days: number) => isoTime(NOW_MS - days * 24 * 3_600_000);

async function typed(ground: Ground, ...words: string[]) {
  const { terminal, written } = fakeTerminal(ground.top, { COX_WORK_DIR: ground.root });
  const code = await main(words, terminal);
  return { code, ...written };
}

const DONE = `id: x
agent: ann
status: done   # at last
completed_at: 2026-03-10T10:00:00Z
artefacts: [a.md]
result:
  summary: All of it
  next_agent: bob
`;

test('[DIR-7] what is done and still lies in its agent’s folder is not to be done again: it stays, and is told', async () => {
  using ground = new Ground({ 'assigned/ann/x.yaml': DONE });
  for (let pass = 0; pass < 2; pass += 1) {
    const { done, findings, problems } = await ground.pass();
    assert.deepEqual([done, problems], [[], []]);
    assert.equal(ground.read('assigned/ann/x.yaml'), DONE);
    assert.deepEqual(
      findings.map(({ kind, id, text }) => [kind, id, text]),
      [
        [
          'misplaced',
          'x',
          'Task x is done and lies in assigned/ann/x.yaml: move it to done/, or set its status to assigned to have it done again',
        ],
      ],
    );
  }
  assert.match(ground.read('collaboration/AGENT_STATUS.md'), /- Task x is done and lies in/);
  assert.equal((await typed(ground, 'coordinate', ground.root)).code, 3, 'a person has to look');
  const started = await typed(ground, 'task', 'start', 'x');
  assert.match(started.err, /wrong_status: .*It is done, and its file is still in assigned\//);
  // The verb may finish what the agent began: with its own result, which stays.
  assert.equal((await typed(ground, 'task', 'done', 'x', '--summary', 'Another')).code, 1);
  const finished = await typed(ground, 'task', 'done', 'x', '--summary', 'All of it', '--next-agent', 'bob');
  assert.equal(finished.code, 0, finished.err);
  const { done } = await ground.pass();
  assert.deepEqual(
    done.map(({ kind }) => kind),
    ['create', 'update', 'update', 'move'],
    'now its follow-up is there',
  );
  assert.match(ground.read('done/ann/x.yaml'), /status: done {3}# at last/);
});

test('[DIR-5] a person’s file keeps its name in the archive, and what waits for it by its id goes on', async () => {
  const old = task('2026-01-05-login', { status: 'done', completed_at: ago(50) }, '# theirs\n');
  using ground = new Ground({
    'done/Login (final).yml': old,
    'inbox/next.yaml': task('next', {}, 'context: {dependencies: [2026-01-05-login]}\n'),
  });
  const first = await ground.pass();
  assert.deepEqual(first.left, []);
  const archived = 'archive/2026-01/Login (final).yml';
  assert.ok(ground.has(archived));
  assert.match(ground.read(archived), /# theirs\n/);
  assert.ok(ground.has('assigned/ann/next.yaml'), 'met in the pass that archived it');
  ground.write('inbox/later.yaml', task('later', {}, 'context: {dependencies: [2026-01-05-login]}\n'));
  await ground.pass();
  assert.ok(ground.has('assigned/ann/later.yaml'), 'and in one that finds it there');
  // Killed between the two steps of the move.
  linkSync(ground.at(archived), ground.at('done/Login (final).yml'));
  const again = await ground.pass();
  assert.deepEqual(
    [again.done.map(({ kind }) => kind), again.problems, ground.has('done/Login (final).yml')],
    [['drop'], [], false],
  );
});

test('[DIR-5] a task that has the name of another one’s archived file is a task of its own', async () => {
  using ground = new Ground({
    'archive/2026-01/login.yaml': task('2025-12-01-login', { status: 'archived' }),
    'inbox/login.yaml': task('login'),
  });
  const { problems } = await ground.pass();
  assert.deepEqual([problems, ground.has('assigned/ann/login.yaml')], [[], true]);
});

test('[DIR-1] `inbox` is new; what is `blocked` stays where it is, and is told', async () => {
  const blocked = task('stuck', { status: 'blocked' }, '# waits for the key\n');
  using ground = new Ground({
    'inbox/fresh.yaml': task('fresh', { status: 'inbox' }),
    'inbox/held.yaml': task('held', { status: 'blocked' }),
    'assigned/ann/stuck.yaml': blocked,
  });
  const { problems, findings } = await ground.pass();
  assert.deepEqual(problems, []);
  assert.match(ground.read('assigned/ann/fresh.yaml'), /^status: assigned$/m);
  assert.equal(ground.read('assigned/ann/stuck.yaml'), blocked);
  assert.equal(ground.read('inbox/held.yaml'), task('held', { status: 'blocked' }));
  assert.deepEqual(
    findings.map(({ kind, id, text }) => [kind, id, text]),
    [
      ['waiting', 'held', 'is blocked, as its file says'],
      ['blocked', 'stuck', 'Task stuck is blocked, as its file says'],
    ],
  );
  assert.equal((await typed(ground, 'task', 'start', 'stuck')).code, 0);
  assert.match(ground.read('assigned/ann/stuck.yaml'), /^status: in_progress$/m);
});

const PROSE: Readonly<Record<string, string>> = {
  priority: 'as soon as you can',
  created_at: 'last Tuesday',
  context: 'see the wiki',
  error: '[none]',
  title: '[a, b]',
  result: 'it went well',
};

test('[DIR-1] prose in an optional field is told with its line, and its file goes on', async () => {
  using ground = new Ground();
  for (const [field, words] of Object.entries(PROSE))
    ground.write(`inbox/${field}.yaml`, task(field, {}, `# theirs\n${field}: ${words}   # by hand\n`));
  const { problems, left } = await ground.pass();
  assert.deepEqual(left, []);
  const told = problems.map(({ file, line, field, counts }) => [file, line, field.split('.')[0], counts]);
  assert.deepEqual(
    told,
    Object.keys(PROSE)
      .sort()
      .map((field) => [`inbox/${field}.yaml`, 6, field, true]),
  );
  for (const [field, words] of Object.entries(PROSE)) {
    const text = ground.read(`assigned/ann/${field}.yaml`);
    assert.ok(text.includes(`# theirs\n${field}: ${words}   # by hand\n`), text);
  }
});

test('[DIR-7] a time that only a person can read is not written over, and a dependency in words is not met', async () => {
  const done = task('when', { status: 'done' }, 'completed_at: on Friday\n');
  using ground = new Ground({
    'done/when.yaml': done,
    'inbox/after.yaml': task('after', {}, 'context: {dependencies: after the login}\n'),
  });
  const { findings } = await ground.pass();
  assert.equal(ground.read('done/when.yaml'), done);
  assert.deepEqual(
    findings.map(({ text }) => text),
    ['waits for after the login, which is not there'],
  );
});

test('[DIR-1] a pass that changes nothing says so, and what has to be mended', async () => {
  using ground = new Ground({
    'inbox/broken.yaml': 'id: broken\nagent: ann\nstatus: begun\nartefacts: []\n',
    'assigned/ann/x.yaml': task('x', { status: 'assigned', priority: 'soon' }),
  });
  await typed(ground, 'coordinate', ground.root);
  const { code, out } = await typed(ground, 'coordinate', ground.root);
  assert.equal(code, 1);
  assert.match(out, /^Nothing changed; 2 files have to be mended:$/m);
  assert.match(out, /^left alone {2}inbox\/broken\.yaml:3: status: one of new/m);
  assert.match(out, /^to mend {2}assigned\/ann\/x\.yaml:5: priority: one of critical/m);
});
