import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessCommand } from '../../../src/features/guardrails/assess.ts';
import { lookAt } from '../../../src/features/guardrails/command-line.ts';
import { UNNAMED_PUSH } from '../../../src/features/trust/verdict.ts';
import { PLACE, tabled } from './guard-support.ts';

tabled('[GUARD-1] git: forced pushes, lost work, rewritten history', [
  ['git push --force', 'force_push'],
  ['git push -f origin main', 'force_push_main'],
  ['git push origin +main', 'force_push_main'],
  ['git push origin +feature', 'force_push'],
  ['git push origin +HEAD:master', 'force_push_main'],
  ['git push origin HEAD:refs/heads/main --force', 'force_push_main'],
  ['git push --forc origin topic', 'force_push'],
  ['git push -uf origin topic', 'force_push'],
  ['git push --force-with-lease origin topic', 'force_push_with_lease?'],
  ['git push --force-with-lease=topic origin topic', 'force_push_with_lease?'],
  ['git push --force-with-lease origin main', 'force_push_main'],
  ['git push --mirror', 'mirror_push'],
  ['git push --prune origin', 'prune_remote_branches'],
  ['git push origin --delete topic', 'delete_branch?'],
  ['git push -d origin main', 'delete_main_branch'],
  ['git push origin :topic', 'delete_branch?'],
  ['git push origin :main', 'delete_main_branch'],
  ['git push --no-verify', 'skip_hooks?'],
  ['git push heroku main', 'deploy'],
  ['git push --force --dry-run', ''],
  ['git push -n -f', ''],
  ['git push origin main', ''],
  ['git push -u origin topic', ''],
  ['git push --follow-tags', ''],
  ['git push --help --force', ''],
  ['git -C ../x push -f', 'force_push'],
  ['git --git-dir=/x/.git push --force', 'force_push'],
  ['/usr/bin/git push -f', 'force_push'],
  ['GIT push -f', 'force_push'],
  ['g"i"t pu\\sh --for\'ce\'', 'force_push'],
  ['git -c remote.origin.push=+main push', 'force_push'],
  ['git config remote.origin.mirror true', 'mirror_push'],
  ['git reset --hard', 'reset_hard'],
  ['git reset --hard HEAD~3', 'reset_hard'],
  ['git reset --har', 'reset_hard'],
  ['git reset HEAD~', ''],
  ['git reset --soft HEAD~', ''],
  ['git clean -fd', 'clean_untracked'],
  ['git clean -xfd', 'clean_untracked'],
  ['git clean --force', 'clean_untracked'],
  ['git clean -f -n', ''],
  ['git clean -nfd', ''],
  ['git clean -i', ''],
  ['git -c clean.requireForce=false clean -d', 'clean_untracked'],
  ['git checkout -- .', 'discard_changes'],
  ['git checkout .', 'discard_changes'],
  ['git checkout -f', 'discard_changes'],
  ['git checkout -- src/a.ts', 'discard_changes'],
  ['git checkout HEAD -- src', 'discard_changes'],
  ['git checkout main', ''],
  ['git checkout -b topic', ''],
  ['git checkout -- package-lock.json', ''],
  ['git restore .', 'discard_changes'],
  ['git restore src/a.ts', 'discard_changes'],
  ['git restore --staged .', ''],
  ['git restore -SW .', 'discard_changes'],
  ['git switch -f main', 'discard_changes'],
  ['git switch --discard-changes main', 'discard_changes'],
  ['git switch -c topic', ''],
  ['git stash drop', 'drop_stash'],
  ['git stash clear', 'drop_stash'],
  ['git stash pop', ''],
  ['git stash push -u', ''],
  ['git stash list', ''],
  ['git branch -D topic', 'delete_branch?'],
  ['git branch -d topic', ''],
  ['git branch -d main', 'delete_main_branch'],
  ['git branch -D master', 'delete_main_branch'],
  ['git branch --delete --force topic', 'delete_branch?'],
  ['git branch -M main', ''],
  ['git branch -f main HEAD~3', 'move_main_branch'],
  ['git branch | grep x | xargs git branch -D', 'delete_many_branches'],
  ["git filter-branch --tree-filter 'rm -f x' HEAD", 'rewrite_history'],
  ['git filter-repo --path x', 'rewrite_history'],
  ['git-filter-repo --path x', 'rewrite_history'],
  ['git filter-repo --analyze', ''],
  ['git reflog expire --expire=now --all', 'expire_reflog'],
  ['git reflog', ''],
  ['git gc --prune=now', 'prune_objects'],
  ['git gc', ''],
  ['git prune', 'prune_objects'],
  ['git prune -n', ''],
  ['git update-ref -d refs/heads/topic', 'delete_ref'],
  ['git update-ref -d refs/heads/main', 'delete_main_branch'],
  ['git worktree remove --force ../x', 'remove_worktree'],
  ['git worktree remove ../x', ''],
  ['git worktree add ../x', ''],
  ['git commit --no-verify -m x', 'skip_hooks?'],
  ['git commit -nm x', 'skip_hooks?'],
  ['git commit -m "never run rm -rf /"', ''],
  ['git commit --amend --no-edit', ''],
  ['git rebase -i HEAD~3', ''],
  ["git rebase --exec 'rm -rf src' main", 'recursive_delete'],
  ['git rm -r src', ''],
  ['git rm -rf .', 'discard_changes'],
  ["git submodule foreach 'git push --force'", 'force_push'],
  ['git bisect run npm test', ''],
]);

test('[GUARD-2] a forced push that does not say where to goes where the checked-out branch goes', () => {
  const said = (command: string, branch?: () => string | undefined): string[] =>
    assessCommand(command, { ...PLACE, branch }).findings.map(
      ({ pattern, operation }) => `${pattern} ${operation}`,
    );
  for (const command of ['git push --force', 'git push -f origin HEAD', 'git push origin +@']) {
    assert.deepEqual(
      said(command, () => 'main'),
      ['git-push-force force_push_main'],
      command,
    );
    assert.deepEqual(
      said(command, () => 'topic'),
      ['git-push-force force_push'],
      command,
    );
    for (const nobody of [undefined, () => undefined])
      assert.deepEqual(said(command, nobody), [`${UNNAMED_PUSH} force_push`], command);
  }
  const asked = () => assert.fail('a push that names its branch needs no look at the repository');
  assert.deepEqual(said('git push --force origin topic', asked), ['git-push-force force_push']);
  assert.deepEqual(said('git push --force --all', asked), ['git-push-force force_push_main']);
  assert.deepEqual(
    said('git push --force-with-lease', () => 'topic'),
    ['git-push-lease force_push_with_lease'],
  );
  assert.deepEqual(said('git push --force-with-lease'), ['git-push-lease force_push_main']);
});

test('[GUARD-2] a forced push goes where the line before it, or its own words, have turned to', () => {
  const asked: string[] = [];
  const branch = (folder: string): string => {
    asked.push(folder);
    return folder === '/other' ? 'main' : 'topic';
  };
  const said = (command: string): string =>
    assessCommand(command, { ...PLACE, branch })
      .findings.map(({ pattern, operation }) => (pattern === UNNAMED_PUSH ? pattern : operation))
      .join(' ');
  for (const [command, found] of [
    ['git checkout main && git push --force', 'force_push_main'],
    ['git switch main; git push -f', 'force_push_main'],
    ['git checkout main && git push --force-with-lease', 'force_push_main'],
    ['git branch -m main && git push -f origin HEAD', 'force_push_main'],
    ['git checkout - && git push -f', UNNAMED_PUSH],
    ['gh pr checkout 12 && git push -f', UNNAMED_PUSH],
    ['git push -f origin $BRANCH', UNNAMED_PUSH],
    ['GIT_DIR=/other/.git git push -f', UNNAMED_PUSH],
    ['git --git-dir /other/.git push -f', UNNAMED_PUSH],
    ['git -C /other push -f', 'force_push_main'],
    ['cd /other && git push -f', 'force_push_main'],
    ['cd packages/web && git push -f', 'force_push'],
    ['git checkout -b next && git push -f', 'force_push'],
    ['git push -f origin "$(git branch --show-current)"', 'force_push'],
    // Files of another branch, and not the branch.
    ['git checkout main a.ts && git push -f', 'discard_changes force_push'],
    ['git checkout main -- a.ts && git push -f', 'discard_changes force_push'],
    ['git checkout -- main && git push -f', 'discard_changes force_push'],
    ['git checkout -b x origin/main && git push -f', 'force_push'],
    ['git checkout -p && git push -f', 'force_push'],
    // The branch after all.
    ['git checkout main -- && git push -f', 'force_push_main'],
    ['git switch -- main && git push -f', 'force_push_main'],
    ['git checkout -b main -- && git push -f', 'force_push_main'],
    ['git checkout main $X && git push -f', 'discard_changes force_push_main'],
    ['git checkout $X main && git push -f', `discard_changes ${UNNAMED_PUSH}`],
    ['git checkout -t origin/main && git push -f', 'force_push_main'],
    ['git checkout --orph main HEAD && git push -f', 'force_push_main'],
  ] as const)
    assert.equal(said(command), found, command);
  assert.ok(asked.includes('/repo/packages/web'));
  assert.deepEqual(lookAt('git checkout main; git push', { ...PLACE, branch }).permissions, [
    'git_push_branch',
    'git_push_main',
  ]);
});
