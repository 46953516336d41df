import assert from 'node:assert/strict';
import { existsSync, linkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { taskText, verbStage } from './verb-stage.ts';

const ID = 't1';
const code = ({ error }: JsonObject) => error;

test('the way of a task: assigned, in progress, in error, retried, done; remarks and order stay', async () => {
  await using stage = await verbStage();
  const coder = stage.as('coder', 'agent');
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID, { context: '{ notes: [x] } # why' }));
  assert.equal((await coder.call('start_task_file', { task_id: ID })).status, 'in_progress');
  stage.later(1);
  const failed = await coder.call('fail_task_file', { task_id: ID, message: 'No server' });
  assert.deepEqual([failed.status, failed.retry_count], ['error', 0]);
  stage.later(1);
  const retried = await coder.call('retry_task_file', { task_id: ID });
  assert.deepEqual([retried.status, retried.retry_count], ['assigned', 1]);
  await coder.call('start_task_file', { task_id: ID });
  stage.later(1);
  await coder.call('finish_task_file', { task_id: ID, summary: 'Done: all of it', artefacts: ['src/a.ts'] });
  assert.deepEqual(stage.files(), [`done/coder/${ID}.yaml`]);
  assert.equal(
    stage.read(`done/coder/${ID}.yaml`),
    `# By hand.
id: t1
agent: coder # who else
status: done
assigned_at: 2026-03-01T09:32:00Z
started_at: 2026-03-01T09:32:00Z
started_by: coder
completed_at: 2026-03-01T09:33:00Z
result:
  summary: "Done: all of it"
  artefacts:
    - src/a.ts
  completed_at: 2026-03-01T09:33:00Z
error:
  message: No server
  timestamp: 2026-03-01T09:31:00Z
  agent: coder
  retry_count: 1
artefacts: [src/a.ts]
context: { notes: [x] } # why
`,
  );
  assert.deepEqual((await stage.pass()).left, []);
});

test('each verb is possible from its own states only, and says why not', async () => {
  const verbs = ['start', 'finish', 'fail', 'freeze', 'retry'] as const;
  // Which of them go, by where the file lies and what it says.
  const table: Record<string, readonly string[]> = {
    'inbox/ new': ['freeze'],
    'inbox/ error': ['freeze', 'retry'],
    'assigned/coder/ new': ['start', 'freeze'],
    'assigned/coder/ assigned': ['start', 'freeze'],
    'assigned/coder/ in_progress': ['finish', 'fail', 'freeze'],
    'assigned/coder/ error': ['freeze', 'retry'],
    'done/coder/ done': ['finish'],
    'fridge/ assigned': ['freeze', 'retry'],
    'archive/2026-01/ archived': [],
  };
  await using stage = await verbStage();
  const person = stage.as('cli-ann');
  const inputs = { finish: { summary: 's' }, fail: { message: 'm' } } as Record<string, JsonObject>;
  let count = 0;
  for (const [place, possible] of Object.entries(table))
    for (const verb of verbs) {
      count += 1;
      const [folder, status = ''] = place.split(' ');
      const task_id = `t-${count}`;
      stage.put(`${folder}${task_id}.yaml`, taskText(task_id, { status }));
      const answer = await person.call(`${verb}_task_file`, { task_id, ...inputs[verb] });
      const wanted = possible.includes(verb) ? undefined : 'wrong_status';
      assert.equal(code(answer), wanted, `${verb} from ${place}: ${JSON.stringify(answer)}`);
      if (wanted !== undefined) assert.match(String(answer.message), new RegExp(`^${task_id}: `));
    }
});

test('asked again, nothing more happens; with another result it is refused', async () => {
  await using stage = await verbStage();
  const coder = stage.as('coder');
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID));
  const again = async (name: string, input: JsonObject, action: string) => {
    assert.equal((await coder.call(name, { task_id: ID, ...input })).action, action);
    const before = stage.files().map(stage.read);
    stage.later(1);
    assert.equal((await coder.call(name, { task_id: ID, ...input })).action, `already_${action}`);
    assert.deepEqual(stage.files().map(stage.read), before);
  };
  await again('start_task_file', {}, 'started');
  await again('fail_task_file', { message: 'm' }, 'failed');
  await coder.call('retry_task_file', { task_id: ID });
  await again('freeze_task_file', {}, 'frozen');
  const out = await coder.call('retry_task_file', { task_id: ID });
  assert.deepEqual([out.status, out.path, out.retry_count], ['new', `work/inbox/${ID}.yaml`, 1]);
  await stage.pass();
  await coder.call('start_task_file', { task_id: ID });
  await again('finish_task_file', { summary: 's', next_agent: 'reviewer' }, 'finished');
  assert.equal(code(await coder.call('finish_task_file', { task_id: ID, summary: 'other' })), 'wrong_status');
});

test('an agent goes by what is for its name or its role; who runs the place by anything', async () => {
  await using stage = await verbStage();
  for (const id of ['a', 'b', 'c']) stage.put(`assigned/coder/${id}.yaml`, taskText(id));
  const mallory = stage.as('mallory', 'agent', 'reviewer');
  for (const [name, input] of [
    ['start_task_file', {}],
    ['finish_task_file', { summary: 's' }],
    ['fail_task_file', { message: 'm' }],
    ['freeze_task_file', {}],
    ['retry_task_file', {}],
  ] as const) {
    const answer = await mallory.call(name, { task_id: 'a', ...input });
    assert.deepEqual([code(answer), answer.agent], ['not_assignee', 'coder'], name);
  }
  assert.equal(stage.read('assigned/coder/a.yaml'), taskText('a'));
  const started = [
    await stage.as('coder', 'agent').call('start_task_file', { task_id: 'a' }),
    await stage.as('agent-7', 'agent', 'coder').call('start_task_file', { task_id: 'b' }),
    await stage.as('cli-ann', 'operator').call('start_task_file', { task_id: 'c' }),
  ];
  assert.deepEqual(
    started.map(({ status }) => status),
    ['in_progress', 'in_progress', 'in_progress'],
  );
});

test('the folder is whose task it is, whatever it says: a start holds', async () => {
  await using stage = await verbStage();
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID, { agent: 'reviewer', status: 'new' }));
  await stage.as('coder', 'agent').call('start_task_file', { task_id: ID });
  const before = stage.read(`assigned/coder/${ID}.yaml`);
  assert.match(before, /agent: coder # who else\nstatus: in_progress/);
  await stage.pass();
  assert.equal(stage.read(`assigned/coder/${ID}.yaml`), before);
});

test('of eight that start a task at once, one has it', async () => {
  await using stage = await verbStage();
  for (let round = 0; round < 5; round += 1) {
    const task_id = `t${round}`;
    stage.put(`assigned/coder/${task_id}.yaml`, taskText(task_id));
    const speakers = Array.from({ length: 8 }, (_, index) => stage.as(`agent-${index}`, 'agent', 'coder'));
    const answers = await Promise.all(speakers.map((each) => each.call('start_task_file', { task_id })));
    const won = answers.flatMap(({ success }, index) => (success === true ? [`agent-${index}`] : []));
    assert.equal(won.length, 1, JSON.stringify(answers));
    assert.match(stage.read(`assigned/coder/${task_id}.yaml`), new RegExp(`started_by: ${won[0]}\n`));
    for (const answer of answers)
      if (answer.success !== true) assert.match(String(code(answer)), /^(task_changed|wrong_status)$/);
  }
  assert.equal(stage.files().length, 5, 'nothing is left beside them');
});

test('a person who edits or moves it at the same moment wins', async () => {
  await using stage = await verbStage();
  const path = `assigned/coder/${ID}.yaml`;
  stage.put(path, taskText(ID));
  const turn = join(stage.work, `assigned/coder/.${ID}.yaml.turn.cox`);
  let edited = false;
  // In its turn the file is read, then the clock is asked, then it is written.
  stage.meanwhile(() => {
    if (edited || !existsSync(turn)) return;
    edited = true;
    stage.put(path, `${taskText(ID)}# mine\n`);
  });
  const answer = await stage.as('coder').call('start_task_file', { task_id: ID });
  assert.ok(edited);
  assert.equal(code(answer), 'task_changed');
  assert.match(String(answer.remedy), /Look at it again/);
  assert.equal(stage.read(path), `${taskText(ID)}# mine\n`);
  assert.deepEqual(stage.files(), [path]);
});

test('a turn that its owner was killed in is over after a while, a fresh one is respected', async () => {
  await using stage = await verbStage();
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID));
  const turn = join(stage.work, `assigned/coder/.${ID}.yaml.turn.cox`);
  writeFileSync(turn, '');
  utimesSync(turn, new Date('2026-03-01T09:29:50Z'), new Date('2026-03-01T09:29:50Z'));
  const coder = stage.as('coder');
  assert.equal(code(await coder.call('start_task_file', { task_id: ID })), 'task_changed');
  stage.later(1);
  assert.equal((await coder.call('start_task_file', { task_id: ID })).status, 'in_progress');
});

test('[DIR-7] what a person takes out of done/ and is done again was completed then, not the first time', async () => {
  await using stage = await verbStage();
  const before = { completed_at: '2026-01-01T08:00:00Z' };
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID, before));
  const coder = stage.as('coder');
  await coder.call('start_task_file', { task_id: ID });
  stage.later(1);
  await coder.call('finish_task_file', { task_id: ID, summary: 'again' });
  const text = stage.read(`done/coder/${ID}.yaml`) ?? '';
  assert.match(text, /^completed_at: 2026-03-01T09:31:00Z$/m);
});

test('of two names that a cut move has left, the older one goes before the other is changed', async () => {
  await using stage = await verbStage();
  stage.put(`inbox/${ID}.yaml`, taskText(ID, { status: 'new' }));
  linkSync(join(stage.work, `inbox/${ID}.yaml`), join(stage.work, `assigned/coder/${ID}.yaml`));
  assert.equal(
    (await stage.as('coder').call('start_task_file', { task_id: ID })).path,
    `work/assigned/coder/${ID}.yaml`,
  );
  assert.deepEqual(stage.files(), [`assigned/coder/${ID}.yaml`]);
});

test('starting what another one is at work on says so', async () => {
  await using stage = await verbStage();
  stage.put('assigned/reviewer/r.yaml', taskText('r', { agent: 'reviewer', status: 'in_progress' }));
  stage.put(`assigned/coder/${ID}.yaml`, taskText(ID));
  const started = await stage.as('coder').call('start_task_file', { task_id: ID });
  assert.deepEqual(started.conflicts, [{ artefact: 'src/a.ts', tasks: ['r', ID] }]);
});
