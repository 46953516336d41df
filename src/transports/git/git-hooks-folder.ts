import { isAbsolute, resolve } from 'node:path';
import { git } from '../../child-process/git.ts';
import { findWorkspace } from '../../kernel/workspace.ts';

/** Why hooks can't be installed there. */
export class HooksProblem extends Error {}

export interface HooksFolder {
  readonly path: string;
  /** Which commits go through it. */
  readonly reach: 'repository' | 'this work tree' | 'all repositories of this user';
}

/** Where git looks for the hooks of the repository around `cwd`, `core.hooksPath` included. */
export async function findHooksFolder(cwd: string, env: NodeJS.ProcessEnv): Promise<HooksFolder> {
  const { root, gitCommonDir } = findWorkspace(cwd);
  if (gitCommonDir === undefined) throw new HooksProblem(`${cwd} is in no git repository.`);
  const call = { cwd: root, env };
  const given = (await git(['rev-parse', '--git-path', 'hooks'], call)).replace(/\n$/, '');
  const setting = await git(['config', '--show-scope', '--get', 'core.hooksPath'], call).catch(() => '');
  const [scope, configured] = setting.replace(/\n$/, '').split('\t');
  // A relative path starts at the top of the work tree in which the hook runs.
  const path = resolve(root, given);
  if (configured === undefined) return { path, reach: 'repository' };
  if (scope === 'command')
    throw new HooksProblem('core.hooksPath is set for this command only, as inside `cox run`.');
  if (scope === 'global' || scope === 'system')
    return { path, reach: isAbsolute(given) ? 'all repositories of this user' : 'this work tree' };
  return { path, reach: isAbsolute(given) ? 'repository' : 'this work tree' };
}
