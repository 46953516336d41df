import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { boardScene, says } from './scene.ts';

const SETT = readFileSync(join(import.meta.dirname, '../../fixtures/board/sett.yml'), 'utf8');

const WHO = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];

function git(folder: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', [...WHO, ...words], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

test('[BID-3] [PHASE-7] an unchanged sett.yml of four agents: its agents run as processes, in work trees of their own', async () => {
  const note = 'echo "$AGENT_ID" >> "$TRACE"';
  process.env.API_KEY ??= 'a key';
  await using scene = await boardScene(
    SETT,
    {
      'agents/bid.sh': `case "$INPUT" in *'"type":"GoalDefined"'*) echo exclusive ;; *) echo ignore ;; esac`,
      'agents/plan.sh': `${note}; ${says('Plan', 'one step', 'Terminal')}`,
      // A worker in a work tree that it may write: what it makes is a commit, and its payload names it.
      'agents/code-worker.sh': `${note}; echo made > made.txt; git add made.txt
        git ${WHO.slice(0, 4).join(' ')} commit -q -m made
        printf '{"artefact_type":"CodeCommit","artefact_payload":"%s","summary":"made","structural_type":"Terminal"}' "$(git rev-parse HEAD)"`,
      'agents/review.sh': `${note}; ${says('Review', '{}')}`,
      'agents/test.sh': `${note}; ${says('TestReport', 'all green', 'Terminal')}`,
    },
    'sett.yml',
  );
  git(scene.folder, 'init', '-q', '-b', 'main');
  git(scene.folder, 'add', 'agents', 'sett.yml');
  git(scene.folder, 'commit', '-q', '-m', 'agents');
  await scene.start();
  await scene.publish('a page', 'GoalDefined');
  const [claim, ...others] = await scene.atRest();
  assert.equal(claim?.status, 'complete');
  assert.deepEqual(others, []);
  const { granted_review_agents, granted_parallel_agents, granted_exclusive_agent } = claim as JsonObject;
  assert.deepEqual(granted_review_agents, ['reviewer']);
  assert.deepEqual(granted_parallel_agents, ['coder', 'tester']);
  assert.equal(granted_exclusive_agent, 'planner');
  const [first, second, third, last] = scene.trace();
  assert.deepEqual([first, [second, third].sort(), last], ['reviewer', ['coder', 'tester'], 'planner']);
  const made = (await scene.artefacts()).find(({ type }) => type === 'CodeCommit');
  const { artefact } = await scene.user.call('get_artefact', { artefact_id: made?.id as string });
  const commit = (artefact as JsonObject).payload as string;
  assert.equal(git(scene.folder, 'show', `${commit}:made.txt`), 'made', 'what was committed is still there');
  assert.equal(git(scene.folder, 'worktree', 'list').split('\n').length, 1, 'and no work tree is left');
  assert.equal(git(scene.folder, 'status', '--porcelain', '--untracked-files=no'), '');
});
