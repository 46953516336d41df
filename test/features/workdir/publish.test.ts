import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/kernel/clock.ts';
import { done, publish } from './publishing.ts';
import { repositories } from './repositories.ts';

test('[DIR-9] the work directory alone is committed, whatever else is staged or lies about', async () => {
  using place = repositories();
  const { first } = place;
  first.task('t1');
  first.put('src/a.ts', 'staged\n');
  first.git('add', 'src/a.ts');
  first.put('src/b.ts', 'untracked\n');
  first.put('work/assigned/coder/.t.yaml.1.1.cox', 'half');
  const { commit, pushed } = done(await publish(first, false));
  assert.equal(pushed, false);
  const changed = first.git('diff', '--name-only', 'origin/main', commit ?? '').split('\n');
  assert.deepEqual(
    changed.filter((path) => !path.startsWith('work/')),
    [],
  );
  assert.ok(changed.includes('work/assigned/coder/t1.yaml'));
  assert.deepEqual(first.status().split('\n'), [
    'M  src/a.ts',
    '?? src/b.ts',
    '?? work/assigned/coder/.t.yaml.1.1.cox',
  ]);
  assert.match(
    first.git('log', '-1', '--format=%B', commit ?? ''),
    /^Coordinator: 1 assigned\n\n- set .*\n- moved/,
  );
  assert.equal(first.git('log', '-1', '--format=%an <%ae>'), 'cox coordinate <cox-coordinate@localhost>');
});

test('[DIR-9] nothing is committed and nothing pushed when nothing has changed', async () => {
  using place = repositories();
  const { first, remote } = place;
  first.task('t1');
  assert.equal(done(await publish(first, true)).pushed, true);
  const head = first.git('rev-parse', 'HEAD');
  assert.equal(remote.git('rev-parse', 'main'), head);
  for (const push of [false, true]) {
    const again = done(await publish(first, push));
    assert.deepEqual([again.commit, again.pushed], [undefined, false]);
  }
  assert.equal(first.git('rev-parse', 'HEAD'), head);
});

test('[DIR-9] rejected, a pass is taken back and planned anew on what others have pushed', async () => {
  using place = repositories();
  const { first } = place;
  first.task('t1');
  first.task('t2');
  first.git('add', '--all');
  first.git('commit', '--quiet', '--message=two tasks');
  first.git('push', '--quiet');
  const other = place.clone();
  let isFirst = true;
  const answer = done(
    await publish(other, true, {
      before: () => {
        if (!isFirst) return;
        isFirst = false;
        // A person takes one of them away, while our pass has just assigned it.
        first.git('rm', '--quiet', 'work/inbox/t1.yaml');
        first.put('src/a.ts', 'newer\n');
        first.git('commit', '--quiet', '--all', '--message=not wanted any more');
        first.git('push', '--quiet');
      },
    }),
  );
  assert.deepEqual([answer.pushed, answer.replanned], [true, 1]);
  first.git('pull', '--quiet');
  assert.equal(existsSync(join(first.work, 'assigned/coder/t1.yaml')), false, 'the person has won');
  assert.ok(existsSync(join(first.work, 'assigned/coder/t2.yaml')));
  assert.equal(readFileSync(join(other.folder, 'src/a.ts'), 'utf8'), 'newer\n');
  assert.equal(
    first.git('log', '--format=%s', 'HEAD~1..').split('\n').length,
    1,
    'one commit, on top of theirs',
  );
  assert.doesNotMatch(readFileSync(join(first.work, 'collaboration/WORKFLOW_LOG.md'), 'utf8'), /t1/);
});

test('[DIR-9] what somebody had put there uncommitted outlasts a plan that is taken back', async () => {
  using place = repositories();
  const { first } = place;
  const other = place.clone('--depth=1');
  other.task('mine');
  let isFirst = true;
  const answer = done(
    await publish(other, true, {
      before: () => {
        if (!isFirst) return;
        isFirst = false;
        first.task('theirs');
        first.git('add', '--all');
        first.git('commit', '--quiet', '--message=another');
        first.git('push', '--quiet');
      },
    }),
  );
  assert.deepEqual([answer.pushed, answer.replanned], [true, 1]);
  first.git('pull', '--quiet');
  for (const id of ['mine', 'theirs'])
    assert.ok(existsSync(join(first.work, `assigned/coder/${id}.yaml`)), id);
});

test('[DIR-9] a commit of ours that was never pushed goes along with the next one; commits of others are not ours to push', async () => {
  using place = repositories();
  const { first, remote } = place;
  first.task('t1');
  const { commit } = done(await publish(first, false));
  assert.ok(commit !== undefined);
  assert.equal(done(await publish(first, true)).pushed, true);
  assert.equal(remote.git('rev-parse', 'main'), commit);
  first.put('src/a.ts', 'not ready\n');
  first.git('commit', '--quiet', '--all', '--message=in the works');
  first.task('t2');
  const answer = await publish(first, true);
  assert.equal('success' in answer && answer.error, 'unpushed_commits');
  assert.equal(remote.git('rev-parse', 'main'), commit);
});

test('[DIR-9] two clones that push at once both get through, each task assigned once', async () => {
  using place = repositories();
  const clones = [1, 2].map(() => place.clone());
  clones.forEach((clone, index) => {
    clone.task(`t${index}`);
  });
  const answers = await Promise.all(clones.map((clone) => publish(clone, true, { clock: systemClock })));
  for (const answer of answers) assert.equal(done(answer).pushed, true);
  place.first.git('pull', '--quiet');
  for (let index = 0; index < 2; index += 1)
    assert.match(
      readFileSync(join(place.first.work, `assigned/coder/t${index}.yaml`), 'utf8'),
      /status: assigned/,
    );
  const { commit } = done(await publish(place.first, true));
  assert.equal(commit, undefined, 'and nothing is left to do');
});
