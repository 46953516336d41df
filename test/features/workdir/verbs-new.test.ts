import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { taskText, verbStage } from './verb-stage.ts';

const CODER = { agent: 'coder', title: 'Fix the login!' };

test('a new task lies in the inbox under its minute, its agent and its title; the next of that name is another', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  const answers = await Promise.all([1, 2, 3].map(() => ann.call('create_task_file', CODER)));
  assert.deepEqual(answers.map(({ task_id }) => task_id).sort(), [
    '2026-03-01T0930-coder-fix-the-login',
    '2026-03-01T0930-coder-fix-the-login-2',
    '2026-03-01T0930-coder-fix-the-login-3',
  ]);
  assert.equal(stage.files().length, 3);
  assert.equal(
    stage.read('inbox/2026-03-01T0930-coder-fix-the-login.yaml'),
    'id: 2026-03-01T0930-coder-fix-the-login\nagent: coder\nstatus: new\ntitle: Fix the login!\nartefacts: []\ncreated_at: 2026-03-01T09:30:00Z\ncreated_by: cli-ann\n',
  );
  assert.deepEqual((await stage.pass()).problems, []);
});

test('with an operation id the same task is meant, however late and wherever it lies by then', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  const input = { ...CODER, operation_id: 'op-1' };
  const [one, two] = await Promise.all([
    ann.call('create_task_file', input),
    ann.call('create_task_file', input),
  ]);
  assert.equal(one.task_id, two.task_id);
  stage.later(3);
  await stage.pass();
  const late = await ann.call('create_task_file', input);
  assert.deepEqual([late.task_id, late.action], [one.task_id, 'already_created']);
  assert.deepEqual(stage.files(), [`assigned/coder/${String(one.task_id)}.yaml`]);
  const other = await ann.call('create_task_file', { ...input, title: 'Another' });
  assert.equal(other.error, 'operation_id_reused');
});

test('killed before the file had its name, the next try makes the task that was written down', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  const input = { ...CODER, operation_id: 'op-1' };
  const { task_id } = await ann.call('create_task_file', input);
  rmSync(join(stage.work, 'inbox', `${String(task_id)}.yaml`));
  stage.later(3);
  const again = await ann.call('create_task_file', input);
  assert.deepEqual([again.task_id, again.action], [task_id, 'created']);
  assert.deepEqual(stage.files(), [`inbox/${String(task_id)}.yaml`]);
});

test('whatever is in it comes back as it was given', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  const odd = [
    '- [x]: {y}',
    '"quoted" & *alias',
    'a: b # c',
    '  spaced  ',
    'two\nlines\n',
    '!!js/function x',
    '007',
    'ü→💚',
  ];
  const created = await ann.call('create_task_file', {
    agent: 'coder',
    title: "null: '{}' & more",
    artefacts: ['src/**/*.ts', '../outside', '# no comment'],
    notes: odd,
    priority: 'critical',
  });
  const { contents } = await ann.call('show_task_file', { task_id: created.task_id });
  const { title, artefacts, context, priority } = contents as JsonObject;
  assert.deepEqual([title, priority], ["null: '{}' & more", 'critical']);
  assert.deepEqual(artefacts, ['src/**/*.ts', '../outside', '# no comment']);
  assert.deepEqual((context as JsonObject).notes, odd);
  assert.deepEqual((await stage.pass()).problems, []);
});

test('what could not be done by anybody is not written', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  const refused = async (input: JsonObject) => {
    const { error, field, did_you_mean } = await ann.call('create_task_file', { ...CODER, ...input });
    return [error, field ?? null, did_you_mean ?? null];
  };
  assert.deepEqual(await refused({ agent: 'codr' }), ['invalid_input', 'agent', ['coder']]);
  assert.deepEqual(await refused({ agent: '../../etc' }), ['invalid_input', 'agent', null]);
  assert.deepEqual(await refused({ title: 'two\nlines' }), ['invalid_input', 'title', null]);
  assert.deepEqual(await refused({ dependencies: ['nowhere'] }), ['unknown_dependency', null, null]);
  const notes = Array.from({ length: limits.task_file_items_max }, () => '💚'.repeat(1000));
  assert.deepEqual(await refused({ notes }), ['too_large', 'notes', null]);
  assert.deepEqual(stage.files(), []);
});

test('tasks are found by their beginning, and what is near is named', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  stage.put('assigned/coder/login-form.yaml', taskText('login-form'));
  stage.put('archive/2026-01/login-old.yaml', taskText('login-old', { status: 'archived' }));
  stage.put('assigned/coder/broken.yaml', 'id: broken\nagent: coder\nstatus: odd\nartefacts: []\n');
  const show = async (task_id: string) => await ann.call('show_task_file', { task_id });
  assert.equal((await show('login-f')).task_id, 'login-form');
  assert.deepEqual(
    [(await show('login-o')).shelf, (await show('login-old')).path],
    ['archive', 'work/archive/2026-01/login-old.yaml'],
  );
  const both = await show('login');
  assert.deepEqual([both.error, both.did_you_mean], ['unknown_task_file', ['login-form', 'login-old']]);
  assert.deepEqual((await show('logn-form')).did_you_mean, ['login-form']);
  assert.deepEqual((await show('form')).did_you_mean, ['login-form']);
  assert.equal((await show('zzz')).did_you_mean, undefined);
  const broken = await show('broken');
  assert.deepEqual([broken.error, (broken.errors as JsonObject[])[0]?.line], ['task_invalid', 3]);
});

test('a list is what is there, of whom and where one wants, with the files that need mending', async () => {
  await using stage = await verbStage({ env: { COX_WORK_DIR: 'ops/tasks' }, root: 'ops/tasks' });
  const ann = stage.as('cli-ann');
  stage.put('inbox/low.yaml', taskText('low', { status: 'new', priority: 'low' }));
  stage.put('inbox/high.yaml', taskText('high', { status: 'new', priority: 'high' }));
  stage.put('assigned/reviewer/r.yaml', taskText('r', { agent: 'reviewer' }));
  stage.put('done/coder/d.yaml', taskText('d', { status: 'done' }));
  stage.put('inbox/bad.yaml', 'nothing: here\n');
  const ids = async (input: JsonObject = {}) => {
    const { tasks } = await ann.call('list_task_files', input);
    return (tasks as JsonObject[]).map(({ task_id }) => task_id);
  };
  assert.deepEqual(await ids(), ['r', 'high', 'low', 'd']);
  assert.deepEqual(await ids({ agent: 'coder', status: 'new' }), ['high', 'low']);
  assert.deepEqual(await ids({ shelf: 'done' }), ['d']);
  const few = await ann.call('list_task_files', { limit: 1 });
  assert.deepEqual([few.total, (few.tasks as JsonObject[]).length, few.work_dir], [4, 1, 'ops/tasks']);
  assert.ok((few.problems as JsonObject[]).every(({ file }) => file === 'inbox/bad.yaml'));
});

test('shown: what it waits for, and what is wrong with it', async () => {
  await using stage = await verbStage();
  const ann = stage.as('cli-ann');
  stage.put('assigned/coder/a.yaml', taskText('a', { status: 'error', error: '{ message: No disk }' }));
  stage.put('inbox/b.yaml', taskText('b', { status: 'new', context: '{ dependencies: [a] }' }));
  const waiting = await ann.call('show_task_file', { task_id: 'b' });
  assert.deepEqual([waiting.shelf, waiting.waits_for], ['inbox', 'a (error)']);
  const failed = await ann.call('show_task_file', { task_id: 'a' });
  assert.deepEqual(
    [failed.path, failed.attention],
    ['work/assigned/coder/a.yaml', ['Task a in error: No disk']],
  );
});
