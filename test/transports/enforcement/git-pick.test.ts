import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPick, ontoOfRebase } from '../../../src/transports/git/git-pick.ts';
import type { Machine } from '../../../src/transports/shared/ancestors.ts';

/** From us upwards, each the child of the next: what it was started with. */
function below(...chain: readonly string[]): Machine {
  const at = (pid: number) => chain[pid - 2];
  return {
    from: 2,
    read: (pid) => (at(pid) === undefined ? undefined : { name: '', parent: pid + 1, started: '0' }),
    words: (pid) => at(pid)?.split(' '),
  };
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
    assert.equal(isPick(below(hook, ...chain, 'bash')), true, chain.join(' < '));
  for (const chain of [
    ['git commit -n -m revert'],
    ['git -c x=cherry-pick commit -m cherry-pick'],
    ['git merge revert-1'],
    ['git rebase cherry-pick'],
    ['git commit -n', 'bash', 'git cherry-pick x'],
    ['node tool', 'node revert'],
    [],
  ])
    assert.equal(isPick(below(hook, ...chain, 'bash')), false, chain.join(' < '));
});

test('[LOCK-12] the new base of a rebase is what git was given, also by a pull', () => {
  for (const [onto, ...chain] of [
    ['next', 'git rebase --onto next old'],
    ['next', 'git -C there rebase -i --onto=next old topic'],
    ['1a2b', '/usr/lib/git-core/git rebase -q --onto 1a2b 3c4d', 'git pull --rebase'],
    [undefined, 'git rebase old'],
    [undefined, 'git pull --rebase', 'git rebase-onto --onto next'],
  ])
    assert.equal(ontoOfRebase(below('/bin/sh .git/hooks/pre-rebase', ...(chain as string[]), 'bash')), onto);
});
