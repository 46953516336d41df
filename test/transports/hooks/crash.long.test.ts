import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Finished, finished } from '../support.ts';
import { Stage } from './support.ts';

const CLEANER = fileURLToPath(new URL('./dying-cleaner.ts', import.meta.url));
const LONG_AGO_MINUTES = 20;
/** More than one clean-up commits here. */
const NEVER = 99;

/** Answers the task that it had claimed. */
async function crashed(stage: Stage): Promise<string> {
  const ask = (operation: string, input: Parameters<Stage['ask']>[2]) =>
    stage.ask('alice', operation, input, LONG_AGO_MINUTES);
  await ask('register_session', { current_task: 'the router' });
  await ask('submit_changeset', { file_paths: ['a.txt'] });
  const { task_id } = await ask('submit_work', { task_type: 'fix', task_description: 'the bug' });
  await ask('get_work', { lease_minutes: 60 });
  await ask('acquire_lock', { file_path: 'b.txt', reason: 'mine', ttl_minutes: 300 });
  return task_id as string;
}

async function cleanUp(stage: Stage, deathAt: number): Promise<Finished> {
  const child = spawn(process.execPath, [CLEANER, stage.repo, String(deathAt)], { env: stage.env });
  return await finished(child);
}

test('[HOOK-1] killed anywhere in a clean-up, the next one goes on: one hand-off, everything freed', async () => {
  await using whole = new Stage();
  await crashed(whole);
  const { out, err } = await cleanUp(whole, NEVER);
  assert.equal(err, '');
  const commits = Number.parseInt(out, 10);
  assert.ok(commits >= 5, `end, hand-off, locks, tasks, closing: ${out}`);
  const [expected, ...more] = await whole.handoffs();
  assert.equal(more.length, 0);
  assert.match(expected?.summary as string, /1 file changed, 2 things left begun/);
  for (let deathAt = 0; deathAt < commits; deathAt += 1) {
    await using stage = new Stage();
    const task_id = await crashed(stage);
    assert.equal((await cleanUp(stage, deathAt)).signal, 'SIGKILL');
    const bob = stage.agent('bob');
    const { context = '' } = await bob.start();
    const [handoff, ...second] = await stage.handoffs();
    assert.equal(second.length, 0, `killed before commit ${deathAt}`);
    assert.equal(handoff?.summary, expected?.summary, 'task and lock were still its own');
    assert.equal((await stage.rows('write_handoff')).length, 1, 'not even the same one twice');
    assert.match(context, /Last hand-off, by alice/);
    assert.deepEqual(await stage.locks(), []);
    const { status } = await stage.ask('looker', 'show_work', { task_id });
    assert.equal(status, 'delayed', 'given back, with the pause after an attempt');
  }
});

test('[HOOK-1] many who clean up at the same moment leave one hand-off', async () => {
  await using stage = new Stage();
  await crashed(stage);
  const agents = Array.from({ length: 5 }, (_, index) => stage.agent(`agent-${index}`));
  const starts = await Promise.all(agents.map((agent) => agent.start()));
  for (const { code, context } of starts) {
    assert.equal(code, 0);
    assert.match(context ?? '', /Coxswain coordinates/);
  }
  assert.equal((await stage.rows('write_handoff')).length, 1);
  assert.deepEqual(await stage.locks(), []);
});
