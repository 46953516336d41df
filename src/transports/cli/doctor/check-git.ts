import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Workspace } from '../../../kernel/workspace.ts';
import { CHECKED_HOOKS } from '../../git/git-hook-script.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';

/** Optional, so that there are none is no fault; but half of them is one. */
export function checkGit({ root, gitCommonDir }: Workspace): DoctorFinding {
  const check = 'git hooks';
  if (gitCommonDir === undefined) return idle(check, 'no git repository');
  const asked = spawnSync('git', ['-C', root, 'rev-parse', '--git-path', 'hooks'], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  const folder = asked.status === 0 ? resolve(root, asked.stdout.trim()) : join(gitCommonDir, 'hooks');
  const there = CHECKED_HOOKS.filter((name) => isOurs(join(folder, name)));
  if (there.length === CHECKED_HOOKS.length) return ok(check, `${list(CHECKED_HOOKS)} in ${folder}`);
  if (there.length === 0) return idle(check, 'not installed (optional)', 'Run `cox git install`.');
  return wrong(check, `only ${there.join(', ')} in ${folder}`, 'Run `cox git install`.');
}

function list(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function isOurs(path: string): boolean {
  try {
    return /coxswain/i.test(readFileSync(path, 'latin1'));
  } catch {
    return false;
  }
}
