import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { coordinate } from '../../../src/features/workdir/folder/pass.ts';
import { PassMirror } from '../../../src/features/workdir/scheduler/mirror-pass.ts';
import { publishPass } from '../../../src/features/workdir/scheduler/publish-pass.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import { open } from '../../../src/index.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { main } from '../../../src/transports/cli/main.ts';
import { fakeTerminal } from '../../transports/support.ts';
import { Ground, task } from './ground.ts';
import { PASSES } from './mirror-stage.ts';
import { done } from './publishing.ts';
import { GIT_ENV, repositories } from './repositories.ts';

async function typed(ground: Ground, words: readonly string[], env: Record<string, string> = {}) {
  const { terminal, written } = fakeTerminal(ground.top, { AGENT_ID: 'me', ...env });
  const code = await main([...words], terminal);
  return { code, ...written, json: () => JSON.parse(written.out) as JsonObject };
}

const storeOf = ({ top }: Ground) => `sqlite:${join(top, 'cox.db')}`;

const FAILED = task('e', { status: 'error', title: 'Bake', error: 'no oven' });

test('[DIR-9] a store that is named when schedulers are set up is named to them, from wherever they start', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') });
  const words = ['coordinate', '--install', 'cron', '--store', 'sqlite:cox.db', '--dry-run', '--json'];
  const [file] = (await typed(ground, words)).json().files as JsonObject[];
  assert.ok(String(file?.text).includes(` --store ${storeOf(ground)} `), String(file?.text));
});

test('[DIR-6] cox coordinate --store shows the tasks in cox status, cox work list and the audit', async () => {
  using ground = new Ground({
    'inbox/x.yaml': task('x', { title: 'Mend it' }),
    'assigned/bob/w.yaml': task(
      'w',
      { agent: 'bob', status: 'in_progress', title: 'Paint it' },
      'started_at: 2026-03-10T11:00:00Z\n',
    ),
    'assigned/ann/e.yaml': FAILED,
  });
  const env = { COX_STORE: storeOf(ground) };
  const first = await typed(ground, ['coordinate', '--store', storeOf(ground)]);
  assert.equal(first.code, 3, first.err);
  assert.match(first.out, /^mirrored {2}3 changes in the store$/m);
  const again = await typed(ground, ['coordinate', '--json'], env);
  assert.deepEqual(again.json().mirror, { written: 0, taken: [], problems: [] });
  const status = await typed(ground, ['status'], env);
  assert.match(status.out, /^Task files {2}1 assigned, 1 in progress, 1 in error$/m);
  assert.match(status.out, /^ {2}bob +for .+Paint it$/m);
  assert.match(status.out, /! in error: ann’s task “Bake”: no oven\n +cox task retry e$/m);
  assert.match(status.out, /! in progress for .+: bob’s task “Paint it”\n +cox task show w$/m);
  const seen = (await typed(ground, ['status', '--json'], env)).json();
  const { working, ...counts } = seen.task_files as JsonObject;
  assert.deepEqual(counts, { assigned: 1, in_progress: 1, error: 1 });
  assert.deepEqual(
    (working as JsonObject[]).map(({ agent, task_file }) => [agent, task_file]),
    [['bob', 'w']],
  );
  const listed = await typed(ground, ['work', 'list'], env);
  assert.match(listed.out, /^filed \(2\)$/m);
  assert.match(listed.out, /work\/assigned\/ann\/x\.yaml/);
  const refused = await typed(ground, ['work', 'cancel', String((working as JsonObject[])[0]?.task_id)], env);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /task_is_filed: .*work\/assigned\/bob\/w\.yaml.*\n.*cox task/);
  const audit = await typed(ground, ['audit', 'query', '--operation', 'mirror_task_file'], env);
  assert.equal(audit.code, 0, audit.err);
  const told = await typed(ground, ['log'], env);
  assert.match(told.out, /task “Mend it” is ann’s, assigned, in work\/assigned\/ann\/x\.yaml/);
  assert.equal((await typed(ground, ['replay'], env)).code, 0);
});

test('[DIR-6] without a store that is named nothing is opened; mirror: true means the repository’s own', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') });
  assert.equal((await typed(ground, ['coordinate'])).code, 0);
  const own = join(ground.top, '.coxswain', 'cox.db');
  assert.ok(!existsSync(own));
  ground.write('coordinator.yml', 'mirror: true\n');
  const dry = await typed(ground, ['coordinate', '--dry-run']);
  assert.deepEqual([dry.code, existsSync(own)], [0, false], 'a dry run opens none either');
  assert.match((await typed(ground, ['coordinate'])).out, /^mirrored {2}1 change in the store$/m);
  assert.ok(existsSync(own));
  assert.match((await typed(ground, ['status'])).out, /^Task files {2}1 assigned$/m);
});

test('[DIR-6] a store that is away keeps no pass from its work: it is said, and the next pass catches up', async () => {
  using ground = new Ground({ 'inbox/x.yaml': task('x') });
  mkdirSync(join(ground.top, 'cox.db'));
  const away = await typed(ground, ['coordinate', '--store', storeOf(ground)]);
  assert.equal(away.code, 1);
  assert.ok(ground.has('assigned/ann/x.yaml'), 'the files are in order');
  assert.equal(away.out.match(/^not mirrored {2}/gm)?.length, 1, away.out);
  assert.match(away.out, /The files are in order; the next pass catches up\.$/m);
  const foolish = await typed(ground, ['coordinate'], { DB_BACKEND: 'oracle' });
  assert.equal(foolish.code, 1);
  assert.match(foolish.out, /^not mirrored {2}DB_BACKEND=/m);
  const elsewhere = `sqlite:${join(ground.top, 'other.db')}`;
  const there = await typed(ground, ['coordinate', '--store', elsewhere, '--json']);
  assert.deepEqual([there.code, (there.json().mirror as JsonObject).written], [0, 1]);
});

test('[DIR-6] a verb on a file does what it does when the store can’t show it', async () => {
  using ground = new Ground({ 'assigned/ann/x.yaml': task('x', { status: 'assigned' }) });
  const coxswain = await open({ store: 'memory:', cwd: ground.top, presence: 'off', env: {} });
  const find = coxswain.store.find.bind(coxswain.store);
  const start = operationsByName.get('start_task_file');
  assert.ok(start);
  let asked = 0;
  coxswain.store.find = async (project, needs) => {
    if (needs.ranges === undefined || needs.ranges.length === 0) return await find(project, needs);
    asked += 1;
    throw new Error('away');
  };
  const answer = await coxswain.connect({ agent_id: 'ann' }).perform(start, { task_id: 'x' });
  assert.deepEqual([answer.status, asked > 0], ['in_progress', true]);
  await coxswain.close();
});

test('[DIR-9] a task taken from the queue outlasts a rejected push: one file in the end, and no other task ended', async () => {
  using place = repositories();
  const { first } = place;
  const coxswain = await open({ store: 'memory:', cwd: first.folder, presence: 'off', env: {} });
  const ask = async (name: string, input: JsonObject) => {
    const operation = operationsByName.get(name);
    assert.ok(operation);
    return await coxswain.connect({ agent_id: 'me' }).perform(operation, input);
  };
  const { task_id } = await ask('submit_work', { task_type: 'docs', task_description: 'Write it' });
  const settings = { ...DEFAULT_WORKDIR, take_from_queue: { docs: 'coder' } };
  const mirror = new PassMirror({ root: first.work, settings, actor: PASSES, open: async () => coxswain });
  const other = place.clone();
  let passes = 0;
  const run = async () => {
    await mirror.take();
    const pass = await coordinate({ root: first.work, now_ms: systemClock.now_ms(), settings });
    passes += 1;
    if (passes === 1) {
      other.put('src/b.ts', 'b\n');
      other.git('add', '--all');
      other.git('commit', '--quiet', '--message=b');
      other.git('push', '--quiet');
    }
    return pass;
  };
  const hurried = { ...systemClock, sleep: async () => {} };
  const published = done(
    await publishPass(run, { root: first.work, env: GIT_ENV, push: true, clock: hurried }),
  );
  await mirror.show(published.pass);
  assert.deepEqual([published.pushed, published.replanned, passes], [true, 1, 2]);
  const { status, file_status, file_path } = await ask('show_work', { task_id });
  assert.deepEqual([status, file_status], ['filed', 'assigned']);
  const files = first.git('ls-tree', '-r', '--name-only', 'HEAD', 'work').split('\n');
  assert.deepEqual(
    files.filter((each) => each.endsWith('.yaml')),
    [file_path],
  );
  await coxswain.close();
});

test('[DIR-5] coordinator.yml says what is taken from the queue; a mistake in it is named with its line', async () => {
  using ground = new Ground();
  writeFileSync(ground.at('coordinator.yml'), 'take_from_queue:\n  docs: ann\n  "*": "../bob"\n');
  const { code, err } = await typed(ground, ['coordinate']);
  assert.equal(code, 1);
  assert.match(err, /coordinator\.yml:3: take_from_queue/);
  writeFileSync(ground.at('coordinator.yml'), 'take_from_queue: {docs: ann, "*": bob}\n');
  const env = { COX_STORE: storeOf(ground) };
  await typed(ground, ['work', 'submit', 'docs', 'Write it'], env);
  const pass = await typed(ground, ['coordinate'], env);
  assert.equal(pass.code, 0, pass.out);
  assert.match(pass.out, /^took from the queue {2}inbox\/.+-ann-write-it\.yaml$/m);
  assert.match((await typed(ground, ['task', 'list'], env)).out, /ann.*assigned.*Write it/);
  assert.match((await typed(ground, ['work', 'get'], env)).err, /no_tasks_available/);
});
