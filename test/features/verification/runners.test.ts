import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inline } from '../../../src/features/verification/runner/inline.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { until } from '../../support/until.ts';
import { isAlive, never, policy, type Repository, repository } from './support.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

function startWorker({ folder, store }: Repository, name: string, lease_ms: number): ChildProcess {
  const env = { PATH: process.env.PATH, HOME: folder };
  const words = [WORKER, folder, store, name, String(lease_ms)];
  return spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function said(worker: ChildProcess): Promise<JsonObject | null> {
  let text = '';
  worker.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await once(worker, 'close');
  return JSON.parse(text.replace('ready\n', '')) as JsonObject | null;
}

const lines = (file: string) =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

test('[VER-2] two runners at once: a commit is verified once, by one of them', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const proof = join(place.folder, '.git', 'ran');
  await place.policies(policy(`echo ran >> '${proof}'`));
  await place.route(commit, ['a.txt']);
  const workers = ['r1', 'r2', 'r3'].map((name) => startWorker(place, name, 60_000));
  const answers = await Promise.all(workers.map(said));
  assert.equal(lines(proof).length, 1);
  assert.deepEqual(
    answers.filter((answer) => answer !== null).map(({ status }) => status),
    ['passed'],
  );
  const again = await place.route(commit, ['a.txt']);
  assert.deepEqual([again.queued, again.status], [0, 'passed']);
  assert.equal(await place.runner([inline]).runNext(never), undefined);
  assert.equal(lines(proof).length, 1, 'a retry runs nothing');
});

test('a runner that is killed amid a run: its command dies with it, the next one takes over and cleans up', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const [pids, tree] = ['pids', 'tree'].map((name) => join(place.folder, '.git', name)) as [string, string];
  await place.policies(
    policy(`echo $$ >> '${pids}'; pwd >> '${tree}'; test $(wc -l < '${pids}') -gt 1 || sleep 300`),
  );
  await place.route(commit, ['a.txt']);
  const worker = startWorker(place, 'r1', 400);
  const ended = once(worker, 'close');
  await until(async () => lines(tree).length === 1);
  worker.kill('SIGKILL');
  await ended;
  const [pid] = lines(pids).map(Number);
  await until(async () => !isAlive(pid ?? 0));
  const [left = ''] = lines(tree);
  assert.ok(existsSync(left), 'nobody was there to remove it');
  const done = await until(async () => await place.runner([inline], { name: 'r2' }).runNext(never));
  assert.deepEqual([done.status, done.attempts], ['passed', 2]);
  assert.equal(existsSync(left), false);
  assert.equal(place.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 1);
});

test('a runner that was only slow is stopped when another one has taken over', async () => {
  await using place = await repository();
  const commit = place.commit({ 'a.txt': '' });
  const proof = join(place.folder, '.git', 'ran');
  await place.policies(policy(`echo $$ >> '${proof}'; test $(wc -l < '${proof}') -gt 1 || sleep 300`));
  await place.route(commit, ['a.txt']);
  const slow = startWorker(place, 'slow', 300);
  const answered = said(slow);
  await until(async () => lines(proof).length === 1);
  slow.kill('SIGSTOP');
  const done = await until(async () => await place.runner([inline], { name: 'quick' }).runNext(never));
  assert.equal(done.status, 'passed');
  slow.kill('SIGCONT');
  assert.equal(await answered, null, 'what it did counts for nothing');
  const status = await place.ask('verification_status', { commit_sha: commit });
  assert.deepEqual(
    (status.runs as JsonObject[]).map(({ status, attempts }) => [status, attempts]),
    [['passed', 2]],
  );
});
