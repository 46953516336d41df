import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assessCommand } from '../../../src/features/guardrails/assess.ts';
import { lookAt } from '../../../src/features/guardrails/command-line.ts';
import { branchesHere } from '../../../src/features/guardrails/edits/branch.ts';
import { UNNAMED_PUSH } from '../../../src/features/trust/verdict.ts';
import { PLACE } from './guard-support.ts';

const permissions = (command: string, on: string | undefined): string =>
  lookAt(command, { ...PLACE, branch: () => on })
    .permissions.toSorted()
    .join(' ');

test('[GUARD-10] a push of which nobody can tell the branch needs what a push to main needs', () => {
  for (const [command, on, needed] of [
    ['git bisect reset; git push', 'main', 'git_push git_push_main'],
    ['git checkout "$X"; git push', 'main', 'git_push git_push_main'],
    ['gh pr checkout 0; git push', 'main', 'git_push git_push_main'],
    ['git "$X"; git push', 'main', 'git_push git_push_main'],
    ['git checkout "$X"; git push', 'topic', 'git_push git_push_branch git_push_main'],
    ['git push origin "$X"', 'topic', 'git_push git_push_branch git_push_main'],
    ['git push $X', 'topic', 'git_push git_push_branch git_push_main'],
    ['cd "$X" && git push', 'topic', 'git_push git_push_main'],
    ['git push', undefined, 'git_push git_push_main'],
    // An alias, or a program beside git, may turn to any branch.
    ['git co main; git push', 'topic', 'git_push git_push_branch git_push_main'],
    ['git co main && git push', 'topic', 'git_push git_push_branch git_push_main'],
    ['git flow finish; git push', 'topic', 'git_push git_push_branch git_push_main'],
    ['git -C . sync && git push', 'topic', 'git_push git_push_branch git_push_main'],
    ['git -c alias.co=checkout co main && git push', 'topic', 'git_push_branch git_push_main'],
    ['git -c alias.st=status st && git push', 'topic', 'git_push_branch'],
    // Where it goes is said.
    ['git checkout "$X"; git push origin topic', 'main', 'git_push_branch'],
    ['git push "$X" topic', 'main', 'git_push_branch'],
    ['git push -u origin "$(git branch --show-current)"', 'topic', 'git_push_branch'],
    // And these change nothing.
    ['git --version; git push', 'main', 'git_push_main'],
    ['git --version; git push', 'topic', 'git_push_branch'],
    ['git fetch && git add -A && git commit -m x && git push', 'topic', 'git_push_branch'],
    ['git co main; git push origin topic', 'topic', 'git_push_branch'],
    ['git --no-pager; git -C x; git push', 'topic', 'git_push_branch'],
  ] as const)
    assert.equal(permissions(command, on), needed, `${command} on ${on}`);
});

/** What is found in a line on a branch: its operations, or that it can not be told. */
function said(command: string | readonly string[], on: string | undefined): string {
  const { findings } = assessCommand(command, { ...PLACE, branch: () => on });
  return findings.map(({ pattern, operation }) => (pattern === UNNAMED_PUSH ? pattern : operation)).join(' ');
}

test('[GUARD-2] what was checked out before a move that has succeeded is over', () => {
  const rebased =
    'git checkout main && git pull && git checkout feature && git rebase main && git push --force-with-lease';
  assert.equal(said(rebased, 'feature'), 'force_push_with_lease');
  for (const command of [
    'git checkout feature && git push -f',
    'git switch -q feature >/dev/null 2>&1 && npm test && git push -f 2>&1 | tail -3',
    'git checkout -b feature origin/main && git push -f',
    'git checkout "$X" && git checkout feature && git push -f',
    'git checkout main; git pull; git checkout feature && git push -f',
    'git checkout main 2>&1 | tail -1; git checkout feature && git push -f',
    'git checkout feature && { git add .; git commit -m x; git push -f; }',
    'git checkout feature && (cd . && true; git push -f)',
    'git checkout feature && if true; then git push -f; fi',
    'f() { git push -f; }; git checkout feature && f',
    'git checkout feature && timeout 60 git push -f',
    'true || true; git checkout feature && git push -f',
    'true || true && git checkout feature && git push -f',
    'cd web && git checkout feature && git push -f',
    "bash -c 'git checkout main && git checkout feature && git push -f'",
    'for b in main feature; do git checkout feature && git push -f; done',
  ])
    assert.equal(said(command, 'main'), 'force_push', command);
  const listed = ['bash', '-lc', 'git checkout main && git checkout feature && git push -f'];
  assert.equal(said(listed, 'main'), 'force_push', 'as Codex calls it');
  assert.equal(said('git checkout -b next && git push -f', undefined), 'force_push', 'also without a branch');
});

test('[GUARD-6] a move that may have failed, or may be none, hides no push to main', () => {
  for (const command of [
    'git checkout feature; git push -f',
    'git checkout feature\ngit push -f',
    'git checkout feature || true; git push -f',
    'git checkout feature || true && git push -f',
    'git checkout feature || git push -f',
    'git checkout feature && true; git push -f',
    'git checkout feature && true || git push -f',
    'true && git checkout feature || true && git push -f',
    '! git checkout feature && git push -f',
    'git checkout feature | cat && git push -f',
    'git checkout feature & git push -f',
    '{ git checkout feature; true; } && git push -f',
    '(git checkout feature || true) && git push -f',
    'f() { git checkout feature || true; }; f && git push -f',
    'f() { git checkout feature || return 0; }; f && git push -f',
    "eval 'git checkout feature || x=1' && git push -f",
    'git() { true; }; git checkout feature && /usr/bin/git push -f',
    "bash -c 'git checkout feature; true' && git push -f",
    "eval 'git checkout feature || true' && git push -f",
    'if git checkout feature; then true; fi && git push -f',
    'while git checkout feature; do break; done && git push -f',
    'if [ -f x ]; then b=main; else b=feature; fi; git checkout $b && git push -f',
    // Back again, or at any time.
    'git checkout feature && git checkout main; git push -f',
    'git checkout feature && { git checkout main; git push -f; }',
    'git checkout main & git checkout feature && git push -f',
    '(sleep 1; git checkout main) & git checkout feature && sleep 2 && git push -f',
    'git checkout feature && git push -f & git checkout main',
    'git checkout main | (git checkout feature && git push -f)',
    'git checkout feature && git push -f | git checkout main',
    "trap 'git checkout main' DEBUG; git checkout feature && git push -f",
    "git checkout feature && trap 'git push -f' EXIT; git checkout main",
    'for i in 1 2; do git checkout feature && git push -f; git checkout main; git push -f; done',
    // Elsewhere.
    'git -C ../other checkout feature && git push -f',
    'cd ../other && git checkout feature && cd ../repo && git push -f',
    'GIT_DIR=../other/.git git checkout feature && git push -f',
    // No move, and no failure.
    'git --help checkout feature && git push -f',
    'git --version checkout feature && git push -f',
    'git checkout --help feature && git push -f',
    'git checkout -p feature && git push -f',
    'git checkout --patch feature && git push -f',
    'git checkout HEAD && git push -f',
    'git checkout @ && git push -f',
    'git checkout --detach && git push -f',
    'git branch feature && git push -f',
    'git branch -c main feature && git push -f',
    'git symbolic-ref --short HEAD && git push -f',
    'git stash list && git push -f',
  ])
    assert.match(said(command, 'main'), /^(?:force_push )?force_push_main$/, command);
  for (const path of ['.', './', 'a.ts', 'src/', '../x', "'*.ts'"])
    assert.match(said(`git checkout ${path} && git push -f`, 'main'), /force_push_main$/, path);
  assert.equal(said('git checkout feature && git push -f', undefined), UNNAMED_PUSH, 'without a repository');
});

test('[GUARD-10] a plain push after a move that has succeeded needs what that branch needs', () => {
  const line = 'git switch main && git pull && git switch -c fix && git push -u origin HEAD';
  for (const on of ['main', 'topic']) assert.equal(permissions(line, on), 'git_push_branch', on);
  assert.equal(permissions('git checkout main && git push', 'topic'), 'git_push_main');
  assert.equal(permissions('git checkout fix; git push', 'main'), 'git_push_branch git_push_main');
});

test('[GUARD-6] a word of git checkout is a branch where the repository has one of that name', (t) => {
  const repo = mkdtempSync(join(tmpdir(), 'cox-branches-'));
  t.after(() => rmSync(repo, { recursive: true, force: true }));
  const git = (...words: string[]): void => {
    const name = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
    execFileSync('git', [...name, ...words], { cwd: repo, stdio: 'ignore' });
  };
  git('init', '-q', '-b', 'main');
  writeFileSync(join(repo, 'notes'), 'a file');
  git('add', '.');
  git('commit', '-q', '-m', 'one');
  for (const branch of ['packed', 'team/packed']) git('branch', branch);
  git('pack-refs', '--all');
  for (const branch of ['loose', 'team/loose']) git('branch', branch);
  const found = (name: string): string | undefined =>
    assessCommand(`git checkout ${name} && git push -f`, { cwd: repo, ...branchesHere }).findings.at(-1)
      ?.operation;
  for (const name of ['packed', 'team/packed', 'loose', 'team/loose'])
    assert.equal(found(name), 'force_push', name);
  for (const name of ['notes', 'main', 'team', 'loose/../../heads/loose', 'nothing'])
    assert.equal(found(name), 'force_push_main', name);
});
