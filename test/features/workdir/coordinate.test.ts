import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { main } from '../../../src/transports/cli/main.ts';
import { fakeTerminal } from '../../transports/support.ts';
import { Ground, task } from './ground.ts';

async function typed(ground: Ground, words: readonly string[], env: Record<string, string> = {}) {
  const { terminal, written } = fakeTerminal(ground.top, env);
  const code = await main(['coordinate', ...words], terminal);
  return { code, ...written };
}

const FAILED = task(
  'e',
  { status: 'error' },
  'error: {message: "no \\e[31mred", timestamp: 2020-01-01T00:00:00Z}\n',
);

test('[DIR-4] exit codes for cron: 0 all is well, 3 a task waits for a person, 1 a file has to be mended', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') });
  assert.deepEqual(await typed(ground, []).then(({ code, err }) => [code, err]), [0, '']);
  const idle = await typed(ground, []);
  assert.deepEqual([idle.code, idle.out], [0, 'Nothing to do.\n']);
  ground.write('assigned/ann/e.yaml', FAILED);
  const failed = await typed(ground, []);
  assert.equal(failed.code, 3);
  assert.match(failed.out, /^error {2}Task e in error: no /m);
  assert.ok(!failed.out.includes('\u001b'));
  ground.write('inbox/broken.yaml', 'id: broken\nstatus: what\n');
  const broken = await typed(ground, []);
  assert.equal(broken.code, 1);
  assert.match(broken.out, /^left alone {2}inbox\/broken\.yaml:2: status: one of new/m);
});

test('[DIR-6] a dry run says in one line each what would be done, and changes nothing', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x'), 'assigned/ann/e.yaml': FAILED });
  const before = ground.fingerprint();
  const notices = join(ground.top, 'notices');
  const { code, out } = await typed(ground, ['--dry-run'], { COX_NOTIFY_FILE: notices });
  assert.deepEqual(
    [code, out.split('\n')],
    [
      3,
      [
        'Would do, and did not:',
        'set  status, assigned_at of x (it is for ann)',
        'moved  inbox/x.yaml -> assigned/ann/x.yaml (it is for ann)',
        'error  Task e in error: no  [31mred',
        '',
      ],
    ],
  );
  assert.equal(ground.fingerprint(), before);
  assert.throws(() => readFileSync(notices), { code: 'ENOENT' });
});

test('[DIR-6] the same as JSON, from the repository, the work directory or one in work/collaboration', async () => {
  for (const root of ['work', 'work/collaboration', '.']) {
    using ground = new Ground({ 'inbox/x.yaml': task('x') }, root);
    for (const dir of [[], ['.'], [ground.root]]) {
      const { out, code } = await typed(ground, [...dir, '--json', '--dry-run']);
      const answer = JSON.parse(out) as JsonObject;
      assert.deepEqual([code, answer.root, answer.dry_run], [0, ground.root, true]);
      assert.deepEqual(
        (answer.actions as JsonObject[]).map(({ action, task: id, fields }) => [action, id, fields]),
        [
          ['update', 'x', ['status', 'assigned_at']],
          ['move', 'x', undefined],
        ],
      );
    }
  }
});

test('[DIR-4] the configured notification gets each error once, with the same id if it has to be sent again', async () => {
  using ground = new Ground({ 'assigned/ann/e.yaml': FAILED });
  const notices = join(ground.top, 'notices.jsonl');
  const lines = () =>
    readFileSync(notices, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
  for (let pass = 0; pass < 3; pass += 1)
    assert.equal((await typed(ground, [], { COX_NOTIFY_FILE: notices })).code, 3);
  const [first, ...more] = lines();
  assert.deepEqual(more, []);
  assert.deepEqual([first?.kind, first?.task_id, first?.agent_id], ['task_error', 'e', 'ann']);
  ground.remove('logs');
  await typed(ground, [], { COX_NOTIFY_FILE: notices });
  assert.deepEqual(
    lines().map(({ notice_id }) => notice_id),
    [first?.notice_id, first?.notice_id],
  );
});

test('[DIR-4] a notification that fails is sent again by the next pass, and is a problem until then', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x', { agent: 'zoe' }) });
  const [out, program] = [join(ground.top, 'told'), join(ground.top, 'tell.mjs')];
  writeFileSync(
    program,
    `import fs from 'node:fs'; if (!fs.existsSync(process.argv[2])) process.exit(7); fs.appendFileSync(process.argv[2] + '/n', fs.readFileSync(0));`,
  );
  const env = { COX_NOTIFY_COMMAND: JSON.stringify([process.execPath, program, out]) };
  const failed = await typed(ground, [], env);
  assert.equal(failed.code, 1);
  assert.match(failed.out, /left alone {2}x:1: notification: nobody could be told: /);
  mkdirSync(out);
  assert.deepEqual([(await typed(ground, [], env)).code, (await typed(ground, [], env)).code], [3, 3]);
  const told = readFileSync(join(out, 'n'), 'utf8');
  assert.equal(told.match(/Agent 'zoe' not found/g)?.length, 1);
});

test('[DIR-5] coordinator.yml says how long is too long; a mistake in it is named with its line and stops the pass', async () => {
  using ground = new Ground({
    'done/d.yaml': task('d', { status: 'done', completed_at: '2026-03-10T11:00:00Z' }),
    'coordinator.yml': 'timeout_hours: 1\narchive_days: 0\nserialise_conflicts: true\n',
  });
  assert.equal((await typed(ground, [])).code, 0);
  assert.ok(ground.has('archive/2026-03/d.yaml'));
  ground.write('inbox/x.yaml', task('x'));
  ground.write('coordinator.yml', '# ours\ntimeout_hour: 1\n');
  const { code, err } = await typed(ground, []);
  assert.equal(code, 1);
  assert.match(err, /coordinator_invalid: coordinator\.yml:2: timeout_hour: unknown field/);
  assert.ok(ground.has('inbox/x.yaml'));
});

test('without a work directory nothing is made, and it is said where it was looked for', async () => {
  using ground = new Ground({}, 'elsewhere/deep');
  const before = ground.fingerprint('.');
  const { code, err } = await typed(ground, []);
  assert.equal(code, 1);
  assert.match(err, /no_work_directory: .*work\/collaboration\//);
  assert.equal(ground.fingerprint('.'), before);
});
