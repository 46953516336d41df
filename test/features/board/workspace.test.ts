import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import {
  openWorkspace,
  removeWorkspace,
} from '../../../src/features/board/runner/process/agent-workspace.ts';
import type { Places } from '../../../src/features/board/runner/process/run-files.ts';
import { RunFiles } from '../../../src/features/board/runner/process/run-files.ts';
import { assignment, stage } from './support.ts';

async function opened(places: Places) {
  const given = assignment('true', {}, { workspace: 'ro' });
  const run = new RunFiles(given.run_id, places);
  mkdirSync(run.folder, { recursive: true });
  const workspace = await openWorkspace(run, given, places);
  assert.ok(workspace);
  return { run, workspace };
}

test('[PHASE-7] a work tree that is removed takes nothing of the one that has its name in git by then', async () => {
  using place = stage();
  const first = await opened(place.places);
  place.git('worktree', 'remove', '--force', first.workspace.tree);
  const second = await opened(place.places);
  assert.equal(second.workspace.git_dir, first.workspace.git_dir, 'git gives a free name to the next one');
  await removeWorkspace(first.run, place.places);
  assert.equal(place.git('-C', second.workspace.tree, 'status', '--porcelain'), '');
  // One that has lost its `.git` is not removed by git itself.
  rmSync(`${second.workspace.tree}/.git`);
  await removeWorkspace(second.run, place.places);
  assert.ok(!existsSync(second.workspace.git_dir));
  assert.equal(place.git('worktree', 'list').split('\n').length, 1);
});

test('[PHASE-4] runs that begin at once have a tree each, though git is noting those of the others', async () => {
  using place = stage();
  const runs = await Promise.all(Array.from({ length: 16 }, () => opened(place.places)));
  for (const { workspace } of runs)
    assert.equal(place.git('-C', workspace.tree, 'status', '--porcelain'), '');
  assert.equal(new Set(runs.map(({ workspace }) => workspace.git_dir)).size, runs.length);
});
