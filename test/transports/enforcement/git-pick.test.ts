import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPick } from '../../../src/transports/git/git-pick.ts';

/** From us upwards, each the child of the next: what it was started with. */
function isPickBelow(...chain: readonly string[]): boolean {
  const at = (pid: number) => chain[pid - 2];
  return isPick({
    from: 2,
    read: (pid) => (at(pid) === undefined ? undefined : { name: '', parent: pid + 1, started: '0' }),
    words: (pid) => at(pid)?.split(' '),
  });
}

test('[LOCK-12] a commit is a pick or a revert by the git that makes it, not by what else its command line says', () => {
  const hook = '/bin/sh .git/hooks/prepare-commit-msg';
  for (const chain of [
    ['git cherry-pick x'],
    ['/usr/lib/git-core/git revert HEAD'],
    ['git-cherry-pick x'],
    ['git -C there -c a=b --no-pager cherry-pick x'],
    ['git commit -n -e', 'git cherry-pick -e x'],
    ['sh -e around', 'git revert x'],
  ])
    assert.equal(isPickBelow(hook, ...chain, 'bash'), true, chain.join(' < '));
  for (const chain of [
    ['git commit -n -m revert'],
    ['git -c x=cherry-pick commit -m cherry-pick'],
    ['git merge revert-1'],
    ['git rebase cherry-pick'],
    ['git commit -n', 'bash', 'git cherry-pick x'],
    ['node tool', 'node revert'],
    [],
  ])
    assert.equal(isPickBelow(hook, ...chain, 'bash'), false, chain.join(' < '));
});
