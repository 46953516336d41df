import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesWritten } from '../../../src/command-analysis/shell/analyse-shell.ts';
import { assessCommand } from '../../../src/features/guardrails/assess.ts';

const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };
const found = (command: string) => assessCommand(command, PLACE).findings.map(({ operation }) => operation);

const DESTRUCTIVE: readonly (readonly [command: string, operation: string])[] = [
  ['env - rm -rf /', 'recursive_delete'],
  ['env -u HOME - PATH=/bin rm -rf ~', 'recursive_delete'],
  ["env -S 'rm -rf /'", 'recursive_delete'],
  ["env -vS 'rm -rf /'", 'recursive_delete'],
  ["env --split-string='rm -rf /'", 'recursive_delete'],
  ['sudo -nu root rm -rf /', 'recursive_delete'],
  ['echo / | xargs --replace rm -rf {}', 'recursive_delete'],
  ['echo / | xargs --replace=X rm -rf X', 'recursive_delete'],
  ['git checkout --pathspec-from-file=list', 'discard_changes'],
  ['git restore --pathspec-from-file list', 'discard_changes'],
  ['git restore --staged --worktree --pathspec-from-file=-', 'discard_changes'],
  ['parallel rm -rf {1} ::: / /etc', 'recursive_delete'],
  ['parallel --joblog log rm -rf {//} ::: /etc', 'recursive_delete'],
  ['parallel -j 4 --colsep , git push --force origin {} ::: main', 'force_push_main'],
  ["parallel 'rm -rf {.}' ::: / :::+ x", 'recursive_delete'],
  ['find / -name x -exec echo {} + -delete', 'find_delete'],
  ["find . -fprintf out '%p' -delete", 'find_delete'],
];

test('[GUARD-1] [GUARD-2] wrappers are read through in all their spellings', () => {
  for (const [command, operation] of DESTRUCTIVE) assert.ok(found(command).includes(operation), command);
});

test('[GUARD-1] what only looks like it deletes is let through', () => {
  for (const command of [
    'find . -name -delete -print',
    'find . -iname "-delete"',
    'find . -exec echo -delete \\;',
    'find . -type f -exec grep -l -- -delete {} +',
    'git restore --staged --pathspec-from-file=list',
  ])
    assert.deepEqual([command, found(command), filesWritten(command, PLACE).writes], [command, [], []]);
});

test('[LOCK-12] git that reads its paths from a file may change any of the work tree', () => {
  for (const verb of ['checkout', 'restore'])
    assert.equal(
      filesWritten(`git ${verb} --pathspec-from-file=list`, PLACE).everywhere[0]?.command,
      `git ${verb} .`,
    );
});
