import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionOfCommand } from '../../../src/features/guardrails/push-permission.ts';

const CASES: [command: string, permission: string, branch?: string][] = [
  ['ls -la', 'execute'],
  ['git status', 'execute'],
  ['git commit -m push', 'execute'],
  ['git push', 'git_push'],
  ['git push origin', 'git_push'],
  ['git push', 'git_push_main', 'main'],
  ['git push -u origin', 'git_push_branch', 'topic'],
  ['git push origin topic', 'git_push_branch', 'main'],
  ['git push origin main', 'git_push_main', 'topic'],
  ['git push origin topic:main', 'git_push_main'],
  ['git push origin HEAD:refs/heads/master', 'git_push_main'],
  ['git push origin main:topic', 'git_push_branch'],
  ['git push origin HEAD', 'git_push_main', 'main'],
  ['git push origin HEAD', 'git_push'],
  ['git push origin a b main', 'git_push_main'],
  ['git push --all', 'git_push_main'],
  ['git -C sub -c a.b=c push -o ci.skip origin topic', 'git_push_branch'],
  ['/usr/bin/git --no-pager push origin main', 'git_push_main'],
  ['git push --force', 'git_push_force'],
  ['git push -uf origin topic', 'git_push_force'],
  ['git push origin +main', 'git_push_force_main'],
  ['git push --force-with-lease origin topic', 'git_push_force'],
  ['git push --mirror', 'git_push_force_main'],
];

test('[GUARD-10] which permission a push needs, by where it goes and how', () => {
  for (const [command, permission, branch] of CASES)
    assert.equal(permissionOfCommand(command.split(' '), branch), permission, command);
  assert.equal(permissionOfCommand([]), 'execute');
});
