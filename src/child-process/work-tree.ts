import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from '../kernel/ids.ts';
import { plainGit, type Repository } from './plain-git.ts';

const ATTEMPTS = 12;
const PAUSE_MS = 50;
/**
 * Git's administrative files of work trees; errors about a commit or about this tree's own folder name
 * another path.
 */
const NOTES = /[/\\]worktrees[/\\]/;

/**
 * Creates a work tree of one commit, in a folder that is the caller's own. Before git adds one it reads its
 * administrative files of all other trees, and fails over one that another git process is just writing or
 * removing. A moment later that one is complete, or gone.
 */
export async function addWorkTree(tree: string, commit: string, place: Repository): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const again = attempt === 1 ? [] : ['--force'];
      await plainGit(['worktree', 'add', '--quiet', '--detach', ...again, tree, commit], place);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !NOTES.test(String(error))) throw error;
      // What git has created so far is incomplete.
      await rm(tree, { recursive: true, force: true, maxRetries: 3 });
      await sleep(PAUSE_MS * attempt * systemRandom.fraction());
    }
}
