import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskFolder } from '../../../src/features/workdir/folder/task-folder.ts';
import { readTree } from '../../../src/features/workdir/folder/task-tree.ts';
import {
  failTask,
  finishTask,
  freezeTask,
  retryTask,
  startTask,
  type VerbCall,
  type VerbPlan,
} from '../../../src/features/workdir/verbs.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { NOW_MS, taskText, verbStage } from './verb-stage.ts';

const ID = 't1';
const RESULT = { summary: 'All done', next_agent: 'reviewer', next_task_title: 'Look at it' };

/** Each verb on a task it is possible for, how it is asked for, and what is to be there in the end, come what may. */
const VERBS: readonly {
  readonly name: string;
  readonly from: readonly [path: string, status: string];
  readonly decide: (call: VerbCall) => VerbPlan;
  readonly input?: JsonObject;
  readonly ends: RegExp;
}[] = [
  {
    name: 'start_task_file',
    from: ['assigned/coder/', 'assigned'],
    decide: startTask,
    ends: /^assigned\/coder\/t1\.yaml in_progress$/,
  },
  {
    name: 'finish_task_file',
    from: ['assigned/coder/', 'in_progress'],
    decide: (call) => finishTask(call, RESULT),
    input: RESULT,
    ends: /^assigned\/reviewer\/\S+look-at-it\.yaml assigned\ndone\/coder\/t1\.yaml done$/,
  },
  {
    name: 'fail_task_file',
    from: ['assigned/coder/', 'in_progress'],
    decide: (call) => failTask(call, 'No server'),
    input: { message: 'No server' },
    ends: /^assigned\/coder\/t1\.yaml error$/,
  },
  { name: 'freeze_task_file', from: ['inbox/', 'new'], decide: freezeTask, ends: /^fridge\/t1\.yaml new$/ },
  {
    name: 'retry_task_file',
    from: ['fridge/', 'error'],
    decide: retryTask,
    ends: /^assigned\/coder\/t1\.yaml assigned$/,
  },
];

for (const { name, from, decide, input, ends } of VERBS)
  test(`${name}: killed between any two of its steps and asked again, with a pass before or after, it is done once`, async () => {
    const [place, status] = from;
    for (let stop = 0; stop <= 3; stop += 1)
      for (const passes of [false, true]) {
        // A frozen task is frozen before a pass assigns it; there is nothing else to compare with.
        if (name === 'freeze_task_file' && passes && stop === 0) continue;
        await using stage = await verbStage();
        stage.put(`${place}${ID}.yaml`, taskText(ID, { status }));
        await doSome(stage.work, decide, stop);
        if (passes) await stage.pass();
        const answer = await stage.as('coder', 'agent').call(name, { task_id: ID, ...input });
        const isTooLate = name === 'retry_task_file' && answer.error === 'wrong_status';
        assert.ok(answer.success === true || isTooLate, JSON.stringify(answer));
        for (let count = 0; count < 2; count += 1) {
          stage.later(1);
          const { problems, left } = await stage.pass();
          assert.deepEqual([problems, left], [[], []], `stopped after ${stop}`);
        }
        const now = readTree(stage.work).files.map(({ path, task }) => `${path} ${task.status}`);
        assert.match(
          now.sort().join('\n'),
          ends,
          `stopped after ${stop}, ${passes ? 'with' : 'without'} a pass`,
        );
      }
  });

test('a finished task is never taken back by a pass, and no result is lost, wherever it was stopped', async () => {
  for (let stop = 1; stop <= 3; stop += 1) {
    await using stage = await verbStage();
    stage.put(`assigned/coder/${ID}.yaml`, taskText(ID, { status: 'in_progress' }));
    await doSome(stage.work, (call) => finishTask(call, RESULT), stop);
    await stage.pass();
    const [file] = readTree(stage.work).files.filter(({ task }) => task.id === ID);
    assert.equal(file?.task.result?.summary, 'All done');
    assert.equal(file?.task.status, stop === 1 ? 'in_progress' : 'done');
    assert.equal(file?.task.completed_at_ms, stop === 1 ? undefined : NOW_MS);
  }
});

/** The first steps of a verb, and no more. */
async function doSome(root: string, decide: (call: VerbCall) => VerbPlan, steps_max: number): Promise<void> {
  const tree = readTree(root);
  const [file] = tree.files;
  if (file === undefined) throw new Error('there is no task');
  const plan = decide({ file, by: 'coder', now_ms: NOW_MS });
  if ('wrong' in plan) throw new Error(plan.wrong);
  const folder = new TaskFolder(root, tree.texts);
  let { path } = file;
  for (const step of plan.steps.slice(0, steps_max))
    if (step.kind === 'update') await folder.update(path, step.changes);
    else {
      await folder.move(path, step.to);
      path = step.to;
    }
}
