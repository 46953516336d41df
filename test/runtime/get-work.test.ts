import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { getWork } from '../../src/features/queue/operations/get-work-operation.ts';
import { open } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { temporaryFolder } from '../chaos/crew.ts';
import { agent } from '../conformance/engine.ts';
import { somebody } from '../conformance/profiles.ts';

/** Of a profile that limits nothing, and of one whose use is counted in every commit. */
const TYPES = ['test', 'codex_cloud'];

async function withStore(body: (coxswain: Coxswain) => Promise<void>): Promise<void> {
  using folder = temporaryFolder();
  const coxswain = await open({ store: 'memory:', cwd: folder.path });
  await body(coxswain);
  await coxswain.close();
}

for (const type of TYPES) {
  test(`[QUEUE-8] [PROF-3] the first task lies under a locked folder, the next has files too: ${type} gets it`, () =>
    withStore(async (coxswain) => {
      const holder = agent(coxswain, 'holder');
      await holder('acquire_lock', { file_path: 'src/' });
      for (const file of ['src/a.ts', 'docs/a.md'])
        await holder('submit_work', { task_type: 't', task_description: file, files: [file] });
      const got = await somebody(coxswain, 'worker', type)('get_work', {});
      assert.equal(got.task_description, 'docs/a.md', JSON.stringify(got));
    }));

  test(`[QUEUE-8] [PROF-3] many files under many locked folders are no more than a commit holds (${type})`, () =>
    withStore(async (coxswain) => {
      const holder = agent(coxswain, 'holder');
      const folders = ['a', 'b', 'c', 'd', 'e'];
      for (const folder of folders) await holder('acquire_lock', { file_path: `${folder}/` });
      const files = (name: (n: number) => string, count: number = limits.task_files_max) =>
        Array.from({ length: count }, (_, n) => name(n));
      const asked = { task_type: 't', task_description: 'held' };
      for (const folder of folders.slice(1))
        await holder('submit_work', {
          ...asked,
          files: files((n) => `${n === 0 ? 'a' : folder}/${folder}${n}.ts`),
        });
      const free = { ...asked, task_description: 'free', files: files((n) => `free-${n}.ts`, 9) };
      await holder('submit_work', free);
      const got = await somebody(coxswain, 'worker', type)('get_work', {});
      assert.equal(got.task_description, 'free', JSON.stringify(got));
    }));
}

/** More places are locked than one look shows, and the tasks' files are not among those that it shows. */
async function crowded(coxswain: Coxswain): Promise<void> {
  const crowd = agent(coxswain, 'crowd');
  const per_call = limits.paths_per_call;
  for (let n = 0; n < limits.locks_listed_max; n += per_call)
    await crowd('acquire_lock', {
      file_paths: Array.from({ length: per_call }, (_, at) => `a/${n + at}.ts`),
    });
}

const CROWDED: [tasks: number, files: number, free: boolean][] = [
  [20, 20, false],
  [500, 1, false],
  [8, 20, true],
  [100, 1, true],
];

for (const [tasks, files, free] of CROWDED) {
  const what = `${tasks} tasks with a locked file among their ${files}`;
  test(`[QUEUE-1] [QUEUE-8] ${what}, beside a thousand other locks: ${free ? 'the free one behind them is found' : 'there is none'}`, () =>
    withStore(async (coxswain) => {
      await crowded(coxswain);
      const holder = agent(coxswain, 'holder');
      const asked = { task_type: 't', task_description: 'held' };
      for (let n = 0; n < tasks; n += 1) {
        await holder('acquire_lock', { file_path: `z/${n}-0.ts` });
        const held = Array.from({ length: files }, (_, at) => `z/${n}-${at}.ts`);
        await holder('submit_work', { ...asked, files: held });
      }
      if (free) await holder('submit_work', { ...asked, task_description: 'free', files: ['z/free.ts'] });
      const got = await agent(coxswain, 'worker')('get_work', {});
      const answer = free ? got.task_description : got.reason;
      assert.equal(answer, free ? 'free' : 'no_tasks_available', JSON.stringify(got));
    }));
}

test('[QUEUE-8] who waits for work does not read the whole queue at every release of a lock', () =>
  withStore(async (coxswain) => {
    const holder = agent(coxswain, 'holder');
    await holder('acquire_lock', { file_path: 'held/' });
    for (let n = 0; n <= limits.candidates_per_take + 1; n += 1)
      await holder('submit_work', { task_type: 't', task_description: 'x', files: [`held/${n}.ts`] });
    const find = mock.method(coxswain.store, 'find');
    const isFar = ({ arguments: [, needs] }: (typeof find.mock.calls)[number]) =>
      needs.ranges?.some(({ limit }) => limit === limits.range_rows_max) === true;
    const farLooks = () => find.mock.calls.filter(isFar).length;
    const waiting = Promise.withResolvers<void>();
    const worker = coxswain.connect({ agent_id: 'worker', agent_type: 'test', session_id: 'worker' });
    const getting = worker.perform(
      getWork as never,
      { wait_seconds: 30 },
      { onWaiting: () => waiting.resolve() },
    );
    await waiting.promise;
    const before = farLooks();
    assert.ok(before > 0, 'it has looked there before it waits');
    for (let n = 0; n < 20; n += 1) {
      await holder('acquire_lock', { file_path: `other/${n}.ts` });
      await holder('release_lock', { file_path: `other/${n}.ts` });
    }
    await holder('release_lock', { file_path: 'held/' });
    assert.equal((await getting).success, true);
    assert.ok(farLooks() - before <= 1, `${farLooks() - before} looks at the whole queue for 21 releases`);
  }));
