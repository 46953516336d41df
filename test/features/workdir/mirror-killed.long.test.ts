import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from '../../../src/index.ts';
import { Seeded } from '../../simulation/random.ts';
import { task } from './ground.ts';
import { MirrorStage } from './mirror-stage.ts';

const WORKER = fileURLToPath(new URL('mirror-worker.ts', import.meta.url));
const KILLS = 40;
/** A minute, and then no process waits any more for the one that was killed. */
const RELIEVED_MS = 61_000;

/** Answers whether it came to its end. */
async function passOf(stage: MirrorStage, offset_ms: number, killAfter_ms?: number): Promise<boolean> {
  const args = [WORKER, stage.ground.top, stage.coxswain.store_url, String(offset_ms)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const timer =
    killAfter_ms === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter_ms);
  const [code, signal] = (await ended) as [number | null, string | null];
  clearTimeout(timer);
  if (signal === null) assert.equal(code, 0);
  return signal === null;
}

test('[DIR-6] real passes killed at any moment: every task of the queue ends as one file, and the store says what the tree says', async () => {
  await using stage = await MirrorStage.on({}, ({ cwd }) =>
    open({ store: `sqlite:${join(cwd, 'cox.db')}`, cwd, env: {}, presence: 'off' }),
  );
  const { ground } = stage;
  const random = new Seeded(1);
  const ids: string[] = [];
  let [offset_ms, killed, longest_ms] = [0, 0, 120];
  for (let run = 0; killed < KILLS && run < 4 * KILLS; run += 1) {
    for (let n = 0; n < 3; n += 1) ids.push(await stage.submit(`Write page ${run} ${n}`));
    ground.write(`inbox/own-${run}.yaml`, task(`own-${run}`));
    const [first, second] = ground.tree().files.filter(({ shelf }) => shelf === 'assigned');
    if (first !== undefined) ground.move(first.path, `done/${first.path.split('/').at(-1)}`);
    if (second !== undefined && random.chance(0.3))
      ground.move(second.path, second.path.replace('assigned/ann/', 'assigned/bob/'));
    offset_ms += random.chance(0.5) ? RELIEVED_MS : 0;
    const isWhole = await passOf(stage, offset_ms, longest_ms * random.fraction());
    if (!isWhole) killed += 1;
    longest_ms *= isWhole ? 0.9 : 1.05;
  }
  assert.equal(killed, KILLS);
  for (let pass = 0; pass < 2; pass += 1)
    assert.ok(await passOf(stage, offset_ms + RELIEVED_MS * (pass + 1)));
  const { files, problems } = ground.tree();
  assert.deepEqual(problems, []);
  const works = files.flatMap((file) => file.task.work_id ?? []);
  assert.deepEqual(works.sort(), ids.sort(), 'each is one file');
  for (const file of files) {
    const { work_id, id } = file.task;
    const shown =
      work_id === undefined ? await stage.shown(id) : await stage.call('show_work', { task_id: work_id });
    assert.deepEqual([shown.file_path, shown.agent], [`work/${file.path}`, file.folder ?? file.task.agent]);
    assert.equal(shown.status, file.shelf === 'done' ? 'completed' : 'filed');
  }
  assert.deepEqual(await stage.differences(), []);
  await stage.coxswain.close();
});
