import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Coxswain, open } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits.ts';
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
