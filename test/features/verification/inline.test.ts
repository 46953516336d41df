import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inline } from '../../../src/features/verification/runner/inline.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { until } from '../../support/until.ts';
import { isAlive, never, policy, type Repository, type RunnerSettings, repository } from './support.ts';

async function runOnce(
  place: Repository,
  commit: string,
  settings: RunnerSettings = {},
): Promise<JsonObject> {
  await place.route(commit, ['a.txt']);
  return (await place.runner([inline], settings).runNext(never)) ?? { status: 'nothing was run' };
}

/** Git's own list: the repository knows of no other tree. */
const treesOf = (place: Repository) =>
  place.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length;

test('[VER-3] a command sees the files of exactly that commit, and nothing of it is left afterwards', async () => {
  await using place = await repository();
  const old = place.commit({ 'a.txt': 'one', '.gitignore': 'ignored\n' });
  place.commit({ 'a.txt': 'two' });
  writeFileSync(join(place.folder, 'a.txt'), 'uncommitted');
  writeFileSync(join(place.folder, 'untracked.txt'), '');
  await place.policies(
    policy('cat a.txt; ls -A | sort | tr "\\n" " "; pwd; test -z "$(git status --porcelain)"'),
  );
  const done = await runOnce(place, old);
  assert.deepEqual([done.status, done.exit_code], ['passed', 0]);
  assert.match(String(done.output), /^one\.git \.gitignore a\.txt \/.*cox-verify-/);
  assert.equal(treesOf(place), 1);
  assert.equal(existsSync(String(done.output).split(' ').at(-1)?.trim() ?? ''), false);
  assert.equal(readFileSync(join(place.folder, 'a.txt'), 'utf8'), 'uncommitted');
});

test('[VER-3] without a command of its own a policy runs what the project offers; a failure is a result', async () => {
  await using place = await repository();
  const scripts = { lint: 'node -e "console.log(`linted`)"', typecheck: 'node -e "process.exit(3)"' };
  const commit = place.commit({ 'package.json': JSON.stringify({ scripts }), 'a.txt': '' });
  await place.policies(policy(undefined, { tier: 0 }));
  const done = await runOnce(place, commit);
  assert.equal(done.status, 'failed');
  assert.match(String(done.output), /linted/);
  const bare = place.commit({ 'package.json': '{}' });
  const skipped = await runOnce(place, bare);
  assert.equal(skipped.status, 'skipped');
  assert.match(String(skipped.error_message), /no command for tier 0/);
});

test('[VER-1] the environment is made for the command: what the policy names, nothing else of the runner', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy('env | sort; ls -A "$HOME"', { required_environment: ['DATABASE_URL'] }));
  const lacking = await runOnce(place, commit);
  assert.deepEqual(
    [lacking.status, lacking.error_message],
    ['error', 'The runner’s environment has no DATABASE_URL.'],
  );
  const env = {
    DATABASE_URL: 'postgres://here',
    GITHUB_TOKEN: 'ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    COX_PERSON_KEY: 'k',
    GIT_DIR: '/nowhere',
    NODE_OPTIONS: '--no-such-option',
  };
  const done = await runOnce(place, commit, { env });
  assert.equal(done.status, 'passed');
  assert.match(String(done.output), /^DATABASE_URL=postgres:\/\/here$/m);
  assert.doesNotMatch(String(done.output), /GITHUB_TOKEN|COX_PERSON_KEY|GIT_DIR|NODE_OPTIONS/);
});

test('secrets that a command prints are masked, its output is bounded and a terminal obeys none of it', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const token = ['gh', 'p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYabcd'].join('');
  await place.policies(
    policy(
      `yes 0123456789 | head -c 3000000; printf '\\033]0;title\\007\\033[31m'; echo ${token}; echo 'DB_PASSWORD=hunter22'`,
    ),
  );
  const done = await runOnce(place, commit);
  const output = String(done.output);
  assert.ok(output.length <= 16_000 && output.length > 10_000);
  assert.ok(!output.includes(token));
  assert.ok(!output.includes('\x1b') && !output.includes('hunter22'));
  assert.match(output, /\*\*\*/);
});

test('[VER-1] past its time a command is ended with all its children, also those that left its group', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const pids = join(place.folder, '.git', 'pids');
  mkdirSync(pids);
  await place.policies(
    policy(
      `sh -c 'echo $$ > ${pids}/grandchild; exec sleep 300' & setsid sh -c 'echo $$ > ${pids}/escaped; exec sleep 300' & sleep 300`,
      { timeout_seconds: 1 },
    ),
  );
  const done = await runOnce(place, commit);
  assert.deepEqual([done.status, done.error_message], ['timed_out', 'Not done after 1 seconds.']);
  for (const name of ['grandchild', 'escaped']) {
    const pid = Number(readFileSync(join(pids, name), 'utf8'));
    await until(async () => !isAlive(pid));
  }
  // What went wrong around a commit says nothing about it: asked for again, it is tried again.
  assert.equal((await place.route(commit, ['a.txt'])).queued, 1);
});

test('a child that goes on in the background does not keep a finished command waiting', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  await place.policies(policy('sleep 300 & echo done'));
  const done = await runOnce(place, commit);
  assert.deepEqual([done.status, done.output], ['passed', 'done\n']);
});

test('an ignored folder is linked where the policy says so; no hook of the repository runs', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '', '.gitignore': 'node_modules\n' });
  mkdirSync(join(place.folder, 'node_modules'));
  writeFileSync(join(place.folder, 'node_modules', 'x'), 'linked');
  const proof = join(place.folder, '.git', 'hook-ran');
  writeFileSync(join(place.folder, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch '${proof}'\n`, {
    mode: 0o755,
  });
  await place.policies(policy('cat node_modules/x', { link: ['node_modules'] }));
  assert.equal((await runOnce(place, commit)).output, 'linked');
  assert.equal(existsSync(proof), false);
});

test('a commit that is not here is an error, not a result', async () => {
  await using place = await repository();
  place.commit({ 'a.txt': '' });
  await place.policies(policy('true'));
  const done = await runOnce(place, 'f'.repeat(40));
  assert.equal(done.status, 'error');
  assert.match(String(done.error_message), /git worktree/);
  assert.equal(treesOf(place), 1);
});

test('[VER-2] files that an agent left out of its list are found by the runner and routed', async () => {
  await using place = await repository();
  place.commit({ 'a.txt': '' });
  const commit = place.commit({ 'README.md': 'x', '.env': 'A=1' });
  const routed = await place.route(commit, ['README.md']);
  assert.equal(routed.status, 'nothing_to_verify');
  await place.runner([inline]).witness();
  const status = await place.ask('verification_status', { changeset_id: routed.changeset_id });
  assert.deepEqual(
    [status.status, status.files_from, status.undeclared_files],
    ['waiting_for_person', 'git', ['.env']],
  );
});
