import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { mirrorTree } from '../../../src/features/workdir/operations/mirror-tree.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { task } from './ground.ts';
import { MirrorStage, PASSES } from './mirror-stage.ts';

const brief = ({ status, file_status, agent, file_path }: JsonObject) => [
  status,
  file_status,
  agent,
  file_path,
];

test('[DIR-6] a task of the inbox is shown in the queue as filed, with its file, agent, priority and artefacts', async () => {
  await using stage = await MirrorStage.on({
    'inbox/x.yaml': task('x', { title: 'Mend it', priority: 'high' }),
    'inbox/y.yaml': task('y', { agent: 'bob' }, 'context: {dependencies: [x]}\n'),
  });
  await stage.pass();
  const x = await stage.shown('x');
  assert.deepEqual(brief(x), ['filed', 'assigned', 'ann', 'work/assigned/ann/x.yaml']);
  assert.deepEqual([x.task_description, x.priority, x.files], ['Mend it', 3, ['docs/x.md']]);
  const y = await stage.shown('y');
  assert.deepEqual(brief(y), ['filed', 'new', 'bob', 'work/inbox/y.yaml']);
  assert.deepEqual([y.waits_for_files, y.task_description, y.priority], [['x'], 'y', 5]);
  const listed = (await stage.call('list_work')).filed as JsonObject[];
  assert.deepEqual(listed.map(({ file_path, status }) => [file_path, status]).sort(), [
    ['work/assigned/ann/x.yaml', 'filed'],
    ['work/inbox/y.yaml', 'filed'],
  ]);
});

test('[DIR-6] what a person does by hand is followed: started, moved to another agent, in error, reset, frozen, taken out, done, archived', async () => {
  await using stage = await MirrorStage.on({ 'assigned/ann/x.yaml': task('x', { status: 'in_progress' }) });
  const { ground } = stage;
  const after = async () => {
    await stage.pass();
    const { status, file_status, agent, file_path, error_message, result } = await stage.shown('x');
    return [status, file_status, agent, file_path, error_message ?? (result as JsonObject)?.summary];
  };
  assert.deepEqual(await after(), ['filed', 'in_progress', 'ann', 'work/assigned/ann/x.yaml', undefined]);
  ground.move('assigned/ann/x.yaml', 'assigned/bob/x.yaml');
  assert.deepEqual(await after(), ['filed', 'assigned', 'bob', 'work/assigned/bob/x.yaml', undefined]);
  ground.write('assigned/bob/x.yaml', task('x', { agent: 'bob', status: 'error', error: 'no server' }));
  assert.deepEqual(await after(), ['failed', 'error', 'bob', 'work/assigned/bob/x.yaml', 'no server']);
  ground.write('assigned/bob/x.yaml', task('x', { agent: 'bob', status: 'new' }));
  assert.deepEqual(await after(), ['filed', 'assigned', 'bob', 'work/assigned/bob/x.yaml', undefined]);
  ground.move('assigned/bob/x.yaml', 'fridge/x.yaml');
  assert.deepEqual(await after(), [
    'cancelled',
    'frozen',
    'bob',
    'work/fridge/x.yaml',
    'Its file lies in the fridge.',
  ]);
  ground.move('fridge/x.yaml', 'assigned/ann/x.yaml');
  assert.deepEqual(await after(), ['filed', 'assigned', 'ann', 'work/assigned/ann/x.yaml', undefined]);
  ground.move('assigned/ann/x.yaml', 'done/x.yaml');
  assert.deepEqual(await after(), ['completed', 'done', 'ann', 'work/done/x.yaml', undefined]);
  ground.write('done/x.yaml', `${ground.read('done/x.yaml')}result: {summary: Mended}\n`);
  assert.deepEqual(await after(), ['completed', 'done', 'ann', 'work/done/x.yaml', 'Mended']);
  ground.now_ms += 31 * 24 * 3_600_000;
  assert.deepEqual(await after(), ['completed', 'done', 'ann', 'work/archive/2026-03/x.yaml', 'Mended']);
  const rows = (await stage.rows()).length;
  await stage.pass();
  assert.equal((await stage.rows()).length, rows);
  assert.deepEqual(await stage.differences(), []);
});

test('[DIR-6] a deleted file cancels its task, which comes back with the file; one that can’t be read is not gone', async () => {
  await using stage = await MirrorStage.on({
    'assigned/ann/x.yaml': task('x'),
    'inbox/e.yaml': task('e', { agent: 'zoe' }),
  });
  const { ground } = stage;
  await stage.pass();
  assert.equal((await stage.shown('e')).status, 'failed', 'its agent is not there');
  const text = ground.read('assigned/ann/x.yaml');
  ground.write('assigned/ann/x.yaml', 'id: x\nstatus: what\n');
  await stage.pass();
  assert.equal((await stage.shown('x')).status, 'filed');
  ground.remove('assigned/ann/x.yaml');
  ground.remove('inbox/e.yaml');
  await stage.pass();
  for (const id of ['x', 'e']) {
    const { status, file_status, error_message } = await stage.shown(id);
    assert.deepEqual([status, file_status, error_message], ['cancelled', 'deleted', 'Its file was deleted.']);
  }
  ground.write('inbox/x.yaml', text);
  await stage.pass();
  assert.deepEqual(brief(await stage.shown('x')), ['filed', 'assigned', 'ann', 'work/assigned/ann/x.yaml']);
});

test('[DIR-6] a folder that can’t be read cancels nothing that lies in it', async () => {
  await using stage = await MirrorStage.on({ 'assigned/ann/x.yaml': task('x') });
  const { ground } = stage;
  await stage.pass();
  // A link in its place is not followed: what is behind it is unknown.
  ground.move('assigned', 'elsewhere');
  symlinkSync(ground.at('elsewhere'), ground.at('assigned'));
  await stage.mirror().show({ done: [] });
  assert.equal((await stage.shown('x')).status, 'filed');
});

test('[DIR-6] what others made and showed since a pass has read the tree is not taken for deleted', async () => {
  await using stage = await MirrorStage.on({ 'coordinator.yml': 'mirror: true\n' });
  const { root, settings } = stage.ground;
  const place = { root, settings, directory: 'work', tree: stage.ground.tree() };
  const { task_id } = await stage.call('create_task_file', { agent: 'bob', title: 'Another' });
  const { store, project } = stage.coxswain;
  const connection = stage.coxswain.connect(PASSES);
  await mirrorTree(place, {
    find: (needs) => store.find(project, needs),
    chore: (name, decision) => connection.chore(name, decision),
  });
  assert.equal((await stage.shown(String(task_id))).status, 'filed');
});

test('[DIR-6] where nothing has changed a pass only reads, page by page: no commit, no row, however many tasks', async () => {
  const files = Array.from({ length: 230 }, (_, n) => {
    const folder = ['inbox', 'assigned/bob', 'done', 'fridge'][n % 4];
    const status = n % 4 === 2 ? 'done' : 'new';
    return [`${folder}/t${n}.yaml`, task(`t${n}`, { status, agent: 'bob' })] as const;
  });
  await using stage = await MirrorStage.on(Object.fromEntries(files));
  const first = await stage.pass();
  assert.equal(first.written, files.length);
  const before = (await stage.rows()).length;
  stage.ground.now_ms += 60_000;
  const again = await stage.pass();
  assert.deepEqual([again.written, again.problems, again.away], [0, [], undefined]);
  assert.equal((await stage.rows()).length, before);
});

test('[DIR-6] moves stand in the log with from and to, status and agent, and in the audit', async () => {
  await using stage = await MirrorStage.on({ 'inbox/x.yaml': task('x') });
  await stage.mirror().show({ done: [] });
  await stage.pass();
  const moved = (await stage.events()).find(({ data }) => data.moved_from !== undefined);
  assert.deepEqual([moved?.type, moved?.data.moved_from], ['task_file_changed', 'inbox/x.yaml']);
  const { path, status, agent } = (moved?.data.file ?? {}) as JsonObject;
  assert.deepEqual([path, status, agent], ['assigned/ann/x.yaml', 'assigned', 'ann']);
  const audit = await stage.call('query_audit', { operation: 'mirror_task_file' }, 'op');
  assert.equal((audit.entries as JsonObject[]).length, 2, JSON.stringify(audit));
});

test('[DIR-6] nobody is handed a task that is a file, and nothing that is asked of the queue changes it', async () => {
  await using stage = await MirrorStage.on({
    'inbox/x.yaml': task('x', { priority: 'critical' }),
    'assigned/ann/e.yaml': task('e', { status: 'error', error: 'no' }),
  });
  await stage.pass();
  assert.equal((await stage.call('get_work')).reason, 'no_tasks_available');
  assert.equal((await stage.call('get_work', { task_types: ['task'] })).reason, 'no_tasks_available');
  const before = stage.ground.fingerprint();
  for (const id of ['x', 'e']) {
    const { task_id, status } = await stage.shown(id);
    const asked: [string, JsonObject][] = [
      ['complete_work', { success: true }],
      ['renew_work', {}],
      ['cancel_work', {}],
      ['retry_work', {}],
      ['reprioritise_work', { priority: 1 }],
    ];
    for (const [name, input] of asked) {
      const answer = await stage.call(name, { task_id, ...input });
      assert.deepEqual([name, answer.error, answer.task_file], [name, 'task_is_filed', id]);
      assert.match(String(answer.remedy), /cox task/);
    }
    assert.equal((await stage.shown(id)).status, status);
  }
  await stage.pass();
  assert.equal(stage.ground.fingerprint(), before);
});

test('[DIR-6] [QUEUE-9] what waits in the queue for a task file is released by its end, and told of its failure', async () => {
  await using stage = await MirrorStage.on({ 'assigned/ann/x.yaml': task('x', { status: 'in_progress' }) });
  await stage.pass();
  const { task_id: parent } = await stage.shown('x');
  const child = await stage.submit('after it', { depends_on: [parent as string] });
  const status = async () => (await stage.call('show_work', { task_id: child })).status;
  assert.equal(await status(), 'blocked');
  stage.ground.write('assigned/ann/x.yaml', task('x', { status: 'error', error: 'no' }));
  await stage.pass();
  assert.deepEqual((await stage.call('show_work', { task_id: child })).failed_dependencies, [parent]);
  stage.ground.move('assigned/ann/x.yaml', 'done/x.yaml');
  await stage.pass();
  assert.equal(await status(), 'pending');
  assert.equal((await stage.call('get_work', {}, 'bob')).task_id, child);
});

const DONE = task(
  'x',
  { status: 'done', title: 'Mend it' },
  'result: {summary: Mended, next_agent: bob, next_task_title: Look at it, next_task_notes: [the cookie]}\n',
);

test('[DIR-2] a task that is done and followed leaves one hand-off, however often a pass runs', async () => {
  await using stage = await MirrorStage.on({ 'done/x.yaml': DONE });
  for (let round = 0; round < 3; round += 1) await stage.pass();
  const { handoffs } = await stage.call('read_handoff', {});
  assert.equal((handoffs as JsonObject[]).length, 1);
  const [{ agent_name, summary, relevant_files, next_steps } = {}] = handoffs as JsonObject[];
  assert.deepEqual([agent_name, summary, relevant_files], ['ann', 'Mended', ['docs/x.md']]);
  const [next = '', ...notes] = next_steps as string[];
  assert.match(next, /^For bob: Look at it \(2026-03-10T\d{4}-bob-look-at-it\)$/);
  assert.deepEqual(notes, ['the cookie']);
  const { result } = await stage.shown('x');
  assert.equal((result as JsonObject).next_agent, 'bob');
});

test('[DIR-6] a file as full as files may be is shown as far as a record has room', async () => {
  const wild = '\\x01'.repeat(9000);
  const much = JSON.stringify(Array.from({ length: 400 }, (_, n) => `src/${n}/${'\u0001'.repeat(40)}`));
  await using stage = await MirrorStage.on({
    'done/x.yaml': task(
      'x',
      { status: 'done', artefacts: much, title: 'T'.repeat(2000) },
      `result: {summary: "${wild}", next_agent: bob, next_task_notes: ${much}}\n`,
    ),
    'assigned/ann/e.yaml': task('e', { status: 'error', error: `{message: "${wild}${wild}"}` }),
  });
  const { written, away, problems } = await stage.pass();
  assert.deepEqual([written, away, problems], [4, undefined, []]);
  assert.equal(((await stage.shown('x')).files as string[]).length, 20);
  assert.equal((await stage.shown('e')).status, 'failed');
  assert.equal((await stage.pass()).written, 0);
});

test('[DIR-7] a verb shows at once what it did, where the directory is mirrored; elsewhere it leaves no trace', async () => {
  await using stage = await MirrorStage.on({ 'assigned/ann/x.yaml': task('x', { status: 'assigned' }) });
  const said = async (name: string, input: JsonObject) => {
    const answer = await stage.call(name, input);
    assert.equal(answer.success, true, JSON.stringify(answer));
    return answer.task_id as string;
  };
  await said('start_task_file', { task_id: 'x' });
  assert.equal((await stage.shown('x')).error, 'unknown_task', 'nobody mirrors it');
  await stage.pass();
  await said('fail_task_file', { task_id: 'x', message: 'no server' });
  assert.deepEqual((await stage.shown('x')).error_message, 'no server');
  await said('retry_task_file', { task_id: 'x' });
  assert.equal((await stage.shown('x')).file_status, 'assigned');
  await said('start_task_file', { task_id: 'x' });
  const { file_status, started_by } = await stage.shown('x');
  assert.deepEqual([file_status, started_by], ['in_progress', 'ann']);
  const made = await said('create_task_file', { agent: 'bob', title: 'Another' });
  assert.equal((await stage.shown(made)).status, 'filed');
  await said('freeze_task_file', { task_id: made });
  assert.equal((await stage.shown(made)).status, 'cancelled');
  await said('finish_task_file', { task_id: 'x', summary: 'Mended' });
  assert.deepEqual((await stage.shown('x')).status, 'completed');
  const rows = (await stage.rows()).length;
  assert.equal((await stage.pass()).written, 0, 'a pass has nothing to add');
  assert.equal((await stage.rows()).length, rows);
});

test('[DIR-7] with mirror: true the first verb shows its task without any pass before', async () => {
  await using stage = await MirrorStage.on({ 'coordinator.yml': 'mirror: true\n' });
  const { task_id } = await stage.call('create_task_file', { agent: 'bob', title: 'Another' });
  assert.equal((await stage.shown(task_id as string)).status, 'filed');
});
