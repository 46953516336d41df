import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FilingPort, takeFromQueue } from '../../../src/features/workdir/operations/file-queue.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { task } from './ground.ts';
import { MirrorStage, PASSES } from './mirror-stage.ts';

const TAKING = { ...DEFAULT_WORKDIR, take_from_queue: { docs: 'ann', '*': 'bob' } };

async function taking(files: Record<string, string> = {}): Promise<MirrorStage> {
  const stage = await MirrorStage.on(files);
  stage.ground.settings = TAKING;
  return stage;
}

/** The files that say they are this task of the queue. */
function filesOf(stage: MirrorStage, work_id: string): string[] {
  return Object.entries(stage.ground.contents())
    .filter(([, text]) => text.includes(`work_id: ${work_id}`))
    .map(([path]) => path);
}

function portOf({ coxswain, ground }: MirrorStage): FilingPort {
  const connection = coxswain.connect(PASSES, 'operator', { shows: 'never' });
  return {
    find: (needs) => coxswain.store.find(coxswain.project, needs),
    chore: (name, decision) => connection.chore(name, decision),
    elapsed_ms: () => ground.now_ms,
  };
}

async function take(stage: MirrorStage, by: string, port = portOf(stage)): Promise<void> {
  const { root, settings } = stage.ground;
  await takeFromQueue({ root, directory: 'work', settings, tree: stage.ground.tree() }, { port, by });
}

test('[DIR-6] pending tasks of the named types become files for their agents, and are those files from then on', async () => {
  await using stage = await taking();
  const input = { input_data: { page: 3 }, files: ['docs/x.md'], priority: 2 };
  const docs = await stage.submit('Write the manual\nAll of it, with pictures.', input);
  const other = await stage.submit('Sweep', { task_type: 'sweep' });
  const after = await stage.submit('Print it', { depends_on: [docs], task_type: 'print' });
  await stage.pass();
  const shown = await stage.call('show_work', { task_id: docs });
  assert.deepEqual(
    [shown.status, shown.file_status, shown.agent, shown.priority],
    ['filed', 'assigned', 'ann', 2],
  );
  assert.equal(shown.task_description, 'Write the manual\nAll of it, with pictures.', 'it keeps its words');
  const [path = ''] = filesOf(stage, docs);
  assert.equal(`work/${path}`, shown.file_path);
  const [written] = stage.ground.tree().files.filter((file) => file.path === path);
  const { title, artefacts, priority, work_id } = written?.task ?? {};
  assert.deepEqual([title, artefacts, priority, work_id], ['Write the manual', ['docs/x.md'], 'high', docs]);
  assert.match(stage.ground.read(path), /Input: \{"page":3\}/);
  assert.equal((await stage.call('show_work', { task_id: other })).agent, 'bob');
  assert.equal((await stage.call('get_work')).reason, 'no_tasks_available');
  stage.ground.move(path, `done/${path.split('/').at(-1)}`);
  await stage.pass();
  assert.equal((await stage.call('show_work', { task_id: docs })).status, 'completed');
  await stage.pass();
  assert.equal(
    (await stage.call('show_work', { task_id: after })).agent,
    'bob',
    'who waited is taken in turn',
  );
  assert.deepEqual(await stage.differences(), []);
});

test('[DIR-6] a task that somebody works on, that waits, or whose agent has no folder stays in the queue', async () => {
  await using stage = await taking();
  stage.ground.settings = { ...TAKING, take_from_queue: { docs: 'ann', lost: 'zoe' } };
  const claimed = await stage.submit('mine');
  await stage.call('get_work');
  const waiting = await stage.submit('after it', { depends_on: [claimed] });
  const late = await stage.submit('late', {
    not_before: new Date(stage.ground.now_ms + 60_000).toISOString(),
  });
  const lost = await stage.submit('lost', { task_type: 'lost' });
  const mirror = await stage.pass();
  const status = async (task_id: string) => (await stage.call('show_work', { task_id })).status;
  const all = [claimed, waiting, late, lost];
  assert.deepEqual(await Promise.all(all.map(status)), ['claimed', 'blocked', 'delayed', 'pending']);
  assert.deepEqual(
    mirror.problems.map(({ file, field, reason }) => [file, field, reason]),
    [
      [
        'coordinator.yml',
        'take_from_queue.lost',
        'zoe has no folder in assigned/: its tasks stay in the queue',
      ],
    ],
  );
  stage.ground.now_ms += 61_000;
  await stage.pass();
  assert.equal(await status(late), 'filed', 'its time has come, though nobody asks for work');
});

test('[DIR-6] by hand: one task for one agent; asked again it is the same file; what can’t be filed says why', async () => {
  await using stage = await MirrorStage.on();
  const work_id = await stage.submit('Write it');
  const filed = await stage.call('file_work', { work_id, agent: 'bob' });
  assert.deepEqual([filed.action, filed.agent], ['filed', 'bob'], JSON.stringify(filed));
  assert.equal((await stage.call('show_work', { task_id: work_id })).file_status, 'new');
  const again = await stage.call('file_work', { work_id, agent: 'ann' });
  assert.deepEqual([again.action, again.path, again.agent], ['already_filed', filed.path, 'bob']);
  assert.equal(filesOf(stage, work_id).length, 1);
  const mine = await stage.submit('mine');
  await stage.call('get_work');
  assert.equal((await stage.call('file_work', { work_id: mine, agent: 'ann' })).error, 'wrong_status');
  assert.equal((await stage.call('file_work', { work_id: mine, agent: 'an' })).error, 'invalid_input');
  const unknown = '0192a000-0000-7000-8000-000000000001';
  assert.equal((await stage.call('file_work', { work_id: unknown, agent: 'ann' })).error, 'unknown_task');
  const moved = (filed.path as string).replace('work/', '');
  stage.ground.move(moved, moved.replace('inbox', 'done'));
  await stage.pass();
  assert.equal((await stage.call('file_work', { work_id, agent: 'ann' })).error, 'task_is_filed');
});

class Killed extends Error {}

/** A store that answers so often; then the process is gone, the last commit made or not. */
function dyingPort(stage: MirrorStage, commits: number, lost: boolean): FilingPort {
  const port = portOf(stage);
  let left = commits;
  return {
    ...port,
    chore: async (name, decision) => {
      left -= 1;
      if (left < 0 && !lost) throw new Killed();
      const outcome = await port.chore(name, decision);
      if (left < 0) throw new Killed();
      return outcome;
    },
  };
}

test('[DIR-6] killed before, amid and after its writing, a task taken from the queue ends as one file and one record', async () => {
  for (const [commits, lost, written] of [
    [0, false, false],
    [0, true, false],
    [1, false, true],
  ] as const) {
    await using stage = await taking();
    const work_id = await stage.submit('Write it');
    if (commits === 1) {
      // A second one, so that it dies with the first one written and not yet seen by any mirror.
      await stage.submit('Another', { priority: 9 });
    }
    await assert.rejects(take(stage, 'killed', dyingPort(stage, commits, lost)), Killed);
    assert.equal(filesOf(stage, work_id).length, written ? 1 : 0);
    await stage.pass();
    const status = async () => (await stage.call('show_work', { task_id: work_id })).status;
    assert.equal(await status(), 'filed');
    if (lost) assert.equal(filesOf(stage, work_id).length, 0, 'somebody may still be writing it');
    stage.ground.now_ms += 61_000;
    await stage.pass();
    assert.equal(filesOf(stage, work_id).length, 1);
    await stage.pass();
    assert.equal(filesOf(stage, work_id).length, 1);
    assert.deepEqual((await stage.call('show_work', { task_id: work_id })).file_status, 'assigned');
    assert.deepEqual(stage.ground.tree().problems, []);
    assert.deepEqual(await stage.differences(), []);
  }
});

test('[DIR-6] a file that was written and moved on before its writer was killed is found, and not written again', async () => {
  await using stage = await taking();
  const work_id = await stage.submit('Write it');
  await take(stage, 'killed');
  await stage.ground.pass();
  const [path = ''] = filesOf(stage, work_id);
  stage.ground.move(path, 'done/renamed.yaml');
  stage.ground.write(
    'done/renamed.yaml',
    stage.ground.read('done/renamed.yaml').replace(/^id: .*$/m, 'id: renamed'),
  );
  stage.ground.now_ms += 61_000;
  await stage.pass();
  assert.deepEqual(filesOf(stage, work_id), ['done/renamed.yaml']);
  const { status, task_file } = await stage.call('show_work', { task_id: work_id });
  assert.deepEqual([status, task_file], ['completed', 'renamed']);
});

test('[DIR-6] a pass that has read the tree long ago does not write what another one wrote and moved on', async () => {
  await using stage = await taking();
  const work_id = await stage.submit('Write it');
  const { root, settings } = stage.ground;
  const slow = { root, directory: 'work', settings, tree: stage.ground.tree() };
  await take(stage, 'quick');
  await stage.ground.pass();
  const [assigned = ''] = filesOf(stage, work_id);
  stage.ground.move(assigned, assigned.replace('assigned', 'done'));
  stage.ground.now_ms += 61_000;
  await takeFromQueue(slow, { port: portOf(stage), by: 'slow' });
  const [path = '', ...more] = filesOf(stage, work_id);
  assert.deepEqual(more, []);
  assert.match(path, /^done\/ann\//);
});

test('[DIR-6] whatever a task of the queue says, its file can be read; broken by hand it is not written a second time', async () => {
  await using stage = await taking();
  const words = [
    '\u202e\u0007\n\u2028',
    '---\nid: other',
    '\u{E000}\u{FFFFE}',
    '- [x]: {y: "z',
    '#'.repeat(20_000),
    '🚀 é',
    'a\u0085b\u00a0\ufeff',
  ];
  for (const description of words) {
    const work_id = await stage.submit(description, { input_data: { deep: [description.slice(0, 50)] } });
    await take(stage, 'one');
    assert.deepEqual(stage.ground.tree().problems, [], JSON.stringify(description.slice(0, 50)));
    assert.equal(stage.ground.tree().files.filter(({ task: { work_id: of } }) => of === work_id).length, 1);
  }
  const last = await stage.submit('broken');
  await take(stage, 'one');
  const [path = ''] = filesOf(stage, last);
  stage.ground.write(path, `${stage.ground.read(path)}status: [\n`);
  stage.ground.now_ms += 61_000;
  await stage.pass();
  await stage.pass();
  assert.deepEqual(filesOf(stage, last), [path]);
});

test('[DIR-6] two passes at once and agents that ask for work: each task is one file or one claim, none is both', async () => {
  await using stage = await taking();
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) ids.push(await stage.submit(`Write page ${n}`));
  const claims: string[] = [];
  const claim = async (agent: string) => {
    const { task_id } = await stage.call('get_work', {}, agent);
    if (typeof task_id === 'string') claims.push(task_id);
  };
  await Promise.all([
    take(stage, 'one'),
    claim('carl'),
    take(stage, 'two'),
    claim('dora'),
    claim('emil'),
    take(stage, 'three'),
  ]);
  await Promise.all([stage.pass(), stage.pass()]);
  await stage.pass();
  for (const id of ids) {
    const found = filesOf(stage, id).length;
    assert.equal(found + Number(claims.includes(id)), 1, `${id} is ${found} files`);
    const { status } = await stage.call('show_work', { task_id: id });
    assert.equal(status, claims.includes(id) ? 'claimed' : 'filed');
  }
  assert.ok(claims.length > 0);
  assert.deepEqual(stage.ground.tree().problems, []);
});

test('[DIR-6] the name that a task would have may be another file’s: it gets another one', async () => {
  await using stage = await taking();
  const work_id = await stage.submit('Write it');
  await assert.rejects(take(stage, 'killed', dyingPort(stage, 0, true)), Killed);
  const { task_file } = await stage.call('show_work', { task_id: work_id });
  stage.ground.write(`inbox/${task_file}.yaml`, task(String(task_file), { title: 'somebody else’s' }));
  stage.ground.now_ms += 61_000;
  await stage.pass();
  await stage.pass();
  const [path = '', ...more] = filesOf(stage, work_id);
  assert.deepEqual(more, []);
  assert.match(path, /-2\.yaml$/);
  assert.equal((await stage.call('show_work', { task_id: work_id })).task_file, `${task_file}-2`);
});

test('[DIR-6] a file from the queue whose work_id a person has taken out or mistyped is still that task', async () => {
  await using stage = await MirrorStage.on();
  const work_id = await stage.submit('Write it');
  const { task_id } = await stage.call('file_work', { work_id, agent: 'ann' });
  await stage.pass();
  const path = `assigned/ann/${task_id}.yaml`;
  stage.ground.write(path, stage.ground.read(path).replace(/^work_id: .*$/m, ''));
  // A verb knows no better than the file; the next pass puts it right.
  await stage.call('start_task_file', { task_id });
  await stage.pass();
  assert.equal((await stage.call('show_work', { task_id: work_id })).file_status, 'in_progress');
  const open = ((await stage.call('list_work')).filed as JsonObject[]).map((each) => each.task_id);
  assert.deepEqual(open, [work_id]);
  assert.equal((await stage.pass()).written, 0);
  stage.ground.move(path, `done/${task_id}.yaml`);
  await stage.pass();
  assert.equal((await stage.call('show_work', { task_id: work_id })).status, 'completed');
  // From its end on nothing but the file could say so: it is a task by its own name, too, and as done.
  await stage.pass();
  assert.equal((await stage.pass()).written, 0);
});

test('[DIR-6] a work_id that is made up, copied or of another task changes nobody’s task, and is told of', async () => {
  await using stage = await MirrorStage.on();
  const pending = await stage.submit('pending');
  const filed = await stage.submit('filed');
  const claimed = await stage.submit('claimed', { priority: 1 });
  await stage.call('get_work');
  const { path } = await stage.call('file_work', { work_id: filed, agent: 'ann' });
  const lies = { p: pending, f: filed, c: claimed, n: 'nonsense', u: '0192a000-0000-7000-8000-000000000001' };
  for (const [id, work_id] of Object.entries(lies))
    stage.ground.write(`done/${id}.yaml`, task(id, { status: 'done', work_id }));
  const mirror = await stage.pass();
  assert.deepEqual(
    mirror.problems.map(({ file, field }) => [file, field]).sort(),
    Object.keys(lies)
      .map((id) => [`done/${id}.yaml`, 'work_id'])
      .sort(),
  );
  const status = async (task_id: string) => (await stage.call('show_work', { task_id })).status;
  assert.deepEqual(await Promise.all([pending, filed, claimed].map(status)), ['pending', 'filed', 'claimed']);
  for (const id of Object.keys(lies))
    assert.equal((await stage.shown(id)).status, 'completed', 'its own task');
  assert.ok(typeof path === 'string');
  // The file itself, given another name by hand, is not that task any more.
  const at = filesOf(stage, filed).find((each) => each.startsWith('assigned/')) ?? '';
  stage.ground.move(at, 'assigned/ann/other.yaml');
  stage.ground.write(
    'assigned/ann/other.yaml',
    stage.ground.read('assigned/ann/other.yaml').replace(/^id: .*$/m, 'id: other'),
  );
  await stage.pass();
  const gone = (await stage.call('show_work', { task_id: filed })) as JsonObject;
  assert.deepEqual([gone.status, gone.file_status], ['cancelled', 'deleted']);
});
