import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from '../kernel/ids.ts';
import { plainGit, type Repository } from './plain-git.ts';

const ATTEMPTS = 12;
const PAUSE_MS = 50;
/** Git's notes of trees; what it says about a commit or about this tree's own folder names another place. */
const NOTES = /[/\\]worktrees[/\\]/;

/**
 * A work tree of one commit, in a folder that is the caller's own. Git looks at its notes of all other trees before it adds one,
 * and gives up over one that another git is writing or removing at this moment: a moment later they are whole, or gone.
 */
export async function addWorkTree(tree: string, commit: string, place: Repository): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const again = attempt === 1 ? [] : ['--force'];
      await plainGit(['worktree', 'add', '--quiet', '--detach', ...again, tree, commit], place);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !NOTES.test(String(error))) throw error;
      // What git has begun of it is not whole.
      await rm(tree, { recursive: true, force: true, maxRetries: 3 });
      await sleep(PAUSE_MS * attempt * systemRandom.fraction());
    }
}
