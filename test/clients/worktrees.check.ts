import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../src/features/locks/operations/acquire-lock-operation.ts';
import { sendMessage } from '../../src/features/mail/operations.ts';
import { open } from '../../src/index.ts';
import { makePlace, type Place } from './place.ts';
import { Turn } from './turn.ts';
import { installed } from './vendors/all.ts';
import { wireUp } from './wire-up.ts';

const FILES = { 'asked.txt': 'first\n', 'free.txt': 'first\n' };

/** The same machine, seen from another worktree of the repository. */
function worktreeOf(place: Place, name: string): Place {
  const repo = join(place.repo, '..', name);
  execFileSync('git', ['worktree', 'add', '-q', repo], { cwd: place.repo, env: place.env });
  const file = (path: string) => join(repo, path);
  return { ...place, repo, file, read: (path) => readFileSync(file(path)) };
}

for (const client of installed)
  test(`[LOCK-12] ${client.name}: in a worktree too it is kept off a held file, and hears of mail after a tool that failed`, async () => {
    await using place = await makePlace(FILES);
    const tree = worktreeOf(place, 'tree');
    await wireUp(place, [client]);
    const coxswain = await open({ cwd: place.repo, env: place.env });
    try {
      const holder = coxswain.connect({ agent_id: 'the-holder' });
      await holder.perform(acquireLock, { file_path: 'asked.txt', reason: 'mine' });
      await using turn = await Turn.start(client, tree);
      const denied = await turn.call(client.shell('echo second > asked.txt'));
      assert.ok(denied.result.includes('the-holder'), denied.result);
      assert.equal(`${tree.read('asked.txt')}`, 'first\n');
      await turn.call(client.mcp('acquire_lock', { file_path: 'free.txt' }));
      const { locks } = await place.cox('lock', 'check');
      const own = (locks as { file_path: string; locked_by: string }[]).find(
        ({ file_path }) => file_path === 'free.txt',
      );
      await holder.perform(sendMessage, { to: [`${own?.locked_by}`], body: 'done in a minute' });
      const heard = await turn.call(client.shell('false'));
      assert.ok(heard.text.includes('done in a minute'), heard.text.slice(-2_000));
      assert.equal((await turn.end()).code, 0);
    } finally {
      await coxswain.close();
    }
  });
