import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Set by a person in the environment of the agent's client; a file of the repository could be the agent's own work. */
const SETTING = 'COX_OWN_WORKTREE';

/** Has a person allowed agents to throw away what is uncommitted in a linked worktree of their own, and is this one? */
export function isOwnWorktree(root: string, env: NodeJS.ProcessEnv): boolean {
  return env[SETTING] === 'discard' && isLinked(root);
}

/** Of a linked worktree `.git` is a file that leads into the main one's `worktrees`; of a submodule, into `modules`. */
function isLinked(root: string): boolean {
  try {
    return /^gitdir: .*[\\/]worktrees[\\/][^\\/]+\s*$/.test(readFileSync(join(root, '.git'), 'utf8'));
  } catch {
    return false;
  }
}
