import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CommitReader } from '../../../src/features/changesets/commit-reader.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { findWorkspace } from '../../../src/kernel/workspace.ts';
import { open } from '../../../src/runtime/open.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-commits-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const repository = join(folder, 'repository');
mkdirSync(repository);

function git(...words: string[]): string {
  return execFileSync('git', words, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

function commit(name: string, text: string): string {
  writeFileSync(join(repository, name), text);
  git('add', '-A');
  git('commit', '-q', '-m', `never run rm -rf / (${name})`);
  return git('rev-parse', 'HEAD');
}

git('init', '-q', '-b', 'main');
git('config', 'user.name', 'Test');
git('config', 'user.email', 'test@example.com');
const first = commit('a.ts', 'export const a = 1;\n');
const dangerous = commit('ship.sh', 'git push --force\n');
const last = commit('b.ts', 'export const b = 1;\n');

async function perform(name: string, input: JsonObject): Promise<JsonObject> {
  const cox = await open({ store: `sqlite:${join(folder, 'cox.db')}`, cwd: repository, env: {} });
  try {
    const operation = operationsByName.get(name);
    assert.ok(operation !== undefined);
    return await cox.connect({ agent_id: 'anna', session_id: 'one' }).perform(operation, input);
  } finally {
    await cox.close();
  }
}

async function claim(task_type: string): Promise<string> {
  await perform('submit_work', { task_type, task_description: 'd' });
  return String((await perform('get_work', { task_types: [task_type] })).task_id);
}

test('[GUARD-4] a merge is read as what it brings to the branch it was made on', async () => {
  git('checkout', '-q', '-b', 'side', first);
  commit('side.sh', 'git push --force origin main\n');
  git('checkout', '-q', '-b', 'joined', first);
  git('merge', '-q', '--no-ff', '-m', 'join', 'side');
  const merge = git('rev-parse', 'HEAD');
  git('checkout', '-q', 'main');
  const task_id = await claim('merge');
  const blocked = await perform('complete_work', { task_id, success: true, result: { commit: merge } });
  assert.equal(blocked.error, 'destructive_operation_blocked', JSON.stringify(blocked));
});

test('[GUARD-4] a commit is read in the repository that the work is in', async () => {
  const task_id = await claim('commit');
  const complete = (result: JsonObject) => perform('complete_work', { task_id, success: true, result });
  const blocked = await complete({ commit: dangerous.slice(0, 10) });
  assert.equal(blocked.error, 'destructive_operation_blocked');
  const [violation] = blocked.violations as JsonObject[];
  assert.deepEqual([violation?.file, violation?.line, violation?.operation], ['ship.sh', 1, 'force_push']);
  assert.equal((await complete({ commits: [first, dangerous] })).error, 'destructive_operation_blocked');
  // What lies between is part of the work as well.
  assert.equal((await complete({ commit: last, base: first })).error, 'destructive_operation_blocked');
  assert.equal((await complete({ commit: 'f'.repeat(40) })).error, 'changes_unreadable');
  const many = Array.from({ length: 51 }, (_, index) => index.toString(16).padStart(40, '0'));
  assert.equal((await complete({ commits: many })).error, 'changes_unreadable');
  assert.equal((await complete({ commit: last })).status, 'completed');
});

test('nothing that is not a hash reaches git, and nothing of a repository’s settings is run', async () => {
  const reader = new CommitReader(findWorkspace(repository));
  for (const name of ['HEAD', '--output=stolen', '-p', 'main', 'a..b', `${last}^`, '', '$(id)', 'zzzz'])
    assert.equal((await reader.changes(name)).ok, false, name);
  assert.equal((await reader.changes(last, '--output=stolen')).ok, false);
  writeFileSync(join(repository, '.gitattributes'), '*.ts diff=evil\n');
  git('config', 'diff.evil.textconv', 'touch textconv-ran; cat');
  git('config', 'diff.external', 'touch external-ran');
  git('config', 'core.pager', 'touch pager-ran');
  git('config', 'diff.noprefix', 'true');
  git('config', 'color.ui', 'always');
  const changes = await reader.changes(last);
  assert.ok(changes.ok);
  assert.equal(changes.commit_sha, last);
  assert.match(changes.diff, /^diff --git a\/b\.ts b\/b\.ts\n/);
  assert.ok((await reader.changes(last, first)).ok);
  const left = execFileSync('ls', { cwd: repository, encoding: 'utf8' });
  assert.doesNotMatch(left, /ran|stolen/);
});

test('where there is no repository it is said so', async () => {
  const bare = mkdtempSync(join(folder, 'bare-'));
  const answer = await new CommitReader(findWorkspace(bare)).changes(last);
  assert.deepEqual(answer, { ok: false, reason: 'There is no repository here.' });
});
