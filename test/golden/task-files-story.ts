import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree } from '../../src/features/workdir/folder/task-tree.ts';
import { mirrorTree } from '../../src/features/workdir/operations/mirror-tree.ts';
import { DEFAULT_WORKDIR } from '../../src/features/workdir/workdir-settings.ts';
import type { Telling } from './telling.ts';

/** A task that is a file and one that becomes one; both go on as files do, and the store follows. */
export async function tellOfTaskFiles({ store, project, root, connect, ask, pass }: Telling): Promise<void> {
  const work = join(root, 'work');
  for (const folder of ['inbox', 'assigned/ann', 'done', 'fridge'])
    mkdirSync(join(work, folder), { recursive: true });
  const who = connect({ agent_id: 'op', agent_type: 'cli' });
  const mirror = async () => {
    pass(1);
    const place = { root: work, directory: 'work', settings: DEFAULT_WORKDIR, tree: readTree(work) };
    const find = (needs: Parameters<typeof store.find>[1]) => store.find(project, needs);
    await mirrorTree(place, { find, chore: (name, decision) => who.chore(name, decision) });
  };
  const write = (path: string, status: string, more = '') =>
    writeFileSync(
      join(work, path),
      `id: login\nagent: ann\nstatus: ${status}\nartefacts: [src/a.ts]\n${more}`,
    );
  write('inbox/login.yaml', 'new', 'title: Mend the login\npriority: high\n');
  await mirror();
  const { task_id } = await ask(who, 'submit_work', { task_type: 'docs', task_description: 'the manual' });
  const { task_id: file } = await ask(who, 'file_work', { work_id: task_id, agent: 'ann' });
  renameSync(join(work, 'inbox/login.yaml'), join(work, 'assigned/ann/login.yaml'));
  const started = 'started_at: 2026-01-05T09:00:00Z\nstarted_by: ann-1\n';
  write('assigned/ann/login.yaml', 'in_progress', started);
  await mirror();
  write('assigned/ann/login.yaml', 'error', `${started}error: {message: no server}\n`);
  await mirror();
  write('assigned/ann/login.yaml', 'assigned');
  await mirror();
  rmSync(join(work, 'assigned/ann/login.yaml'));
  write('done/login.yaml', 'done', 'result: {summary: Mended, next_agent: ann}\nfollow_up: look\n');
  rmSync(join(work, `inbox/${file}.yaml`));
  await mirror();
}
