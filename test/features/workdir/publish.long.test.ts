import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { publishPass } from '../../../src/features/workdir/scheduler/publish-pass.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { done, publish } from './publishing.ts';
import { GIT_ENV, repositories } from './repositories.ts';

test('[DIR-9] four clones that push at once all get through, each task assigned once', async () => {
  using place = repositories();
  const clones = [1, 2, 3, 4].map(() => place.clone());
  clones.forEach((clone, index) => {
    clone.task(`t${index}`);
  });
  const answers = await Promise.all(clones.map((clone) => publish(clone, true, { clock: systemClock })));
  for (const answer of answers) assert.equal(done(answer).pushed, true);
  place.first.git('pull', '--quiet');
  for (let index = 0; index < 4; index += 1)
    assert.match(
      readFileSync(join(place.first.work, `assigned/coder/t${index}.yaml`), 'utf8'),
      /status: assigned/,
    );
  const { commit } = done(await publish(place.first, true));
  assert.equal(commit, undefined, 'and nothing is left to do');
});

test('[DIR-9] what git refuses is said in its words, and nothing is lost', async () => {
  using place = repositories();
  const { first } = place;
  const hook = join(place.folder, 'remote.git/hooks/pre-receive');
  writeFileSync(hook, '#!/bin/sh\necho "not today" >&2\nexit 1\n', { mode: 0o755 });
  first.task('t1');
  const answer = await publish(first, true);
  assert.ok('success' in answer);
  assert.equal(answer.error, 'git_failed');
  assert.match(answer.message, /could not be pushed in 5 tries/);
  assert.match(first.git('show', '--format=', '--name-status', 'HEAD'), /work\/assigned\/coder\/t1\.yaml/);
  writeFileSync(hook, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  assert.equal(done(await publish(first, true)).pushed, true);
  const outside = await publishPass(async () => Promise.reject(new Error('never')), {
    root: '/',
    env: GIT_ENV,
    push: false,
  });
  assert.equal('success' in outside && outside.error, 'git_failed');
});

test('[DIR-9] an edit that somebody is at stops a plan from being taken back', async () => {
  using place = repositories();
  const { first } = place;
  const other = place.clone();
  other.task('mine');
  let count = 0;
  const answer = await publish(other, true, {
    before: () => {
      count += 1;
      first.put('src/a.ts', `${count}\n`);
      first.git('commit', '--quiet', '--allow-empty', '--all', '--message=quicker');
      first.git('push', '--quiet');
      // What they have pushed would be written over it.
      other.put('src/a.ts', 'in an editor\n');
    },
  });
  assert.ok('success' in answer, 'it gives up');
  assert.equal(answer.error, 'git_failed');
  assert.equal(readFileSync(join(other.folder, 'src/a.ts'), 'utf8'), 'in an editor\n');
  assert.ok(existsSync(join(other.work, 'assigned/coder/mine.yaml')));
});
