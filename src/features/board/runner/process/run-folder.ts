import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasEnded, readProcess } from '../../../../child-process/client-process.ts';
import { endMarked } from '../../../../child-process/marked.ts';
import { plainGit } from '../../../../child-process/plain-git.ts';
import { isObject } from '../../../../kernel/json.ts';
import { clearLost, hasToStay } from './collect.ts';
import type { Places, RunFiles } from './run-files.ts';
import { giveUp, namedWrapper } from './wrapper.ts';

const STARTER = 'starter';
const ASIDE_MAX = 100;

/** Contains its starter from the first moment on. False: the run already has a folder. */
export function makeFolder(run: RunFiles, run_id: string, { runs }: Places): boolean {
  mkdirSync(runs, { recursive: true, mode: 0o700 });
  const draft = mkdtempSync(`${run.folder}.new-`);
  const started = readProcess(process.pid)?.started ?? '';
  writeFileSync(join(draft, STARTER), JSON.stringify({ run_id, pid: process.pid, started }));
  try {
    renameSync(draft, run.folder);
    return true;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (existsSync(run.folder)) return false;
    throw error;
  }
}

/** The process that made the folder. It may still be about to start the command. */
export function starterOf(run: RunFiles): { readonly run_id: string; hasEnded(): boolean } | undefined {
  const found = run.readJson(STARTER);
  if (!isObject(found)) return undefined;
  const { run_id, pid, started } = found as { run_id: string; pid: number; started: string };
  return { run_id, hasEnded: () => hasEnded({ pid, started }) };
}

/** Nothing runs, nothing will run, and how it ended is unknown. */
export function isLost(run: RunFiles): boolean {
  if (run.exit() !== undefined) return false;
  const wrapper = namedWrapper(run);
  if (wrapper === undefined) return starterOf(run)?.hasEnded() !== false && giveUp(run);
  // The wrapper first writes how the command ended, and then ends itself.
  return wrapper.hasEnded() && run.exit() === undefined;
}

/**
 * Makes room for a run that starts anew. None of its processes is left, and its earlier work is kept. Answers
 * where.
 */
export async function clearFolder(run: RunFiles, places: Places): Promise<readonly string[]> {
  endMarked(run.mark);
  const notes = await clearLost(run, places);
  if (hasToStay(run)) await setAside(run, places);
  else await rm(run.folder, { recursive: true, force: true, maxRetries: 3 });
  return notes;
}

async function setAside(run: RunFiles, { repository, env }: Places): Promise<void> {
  for (let count = 1; count <= ASIDE_MAX; count += 1) {
    const aside = `${run.folder}.kept-${count}`;
    if (existsSync(aside)) continue;
    renameSync(run.folder, aside);
    // The tree and its repository refer to each other by path.
    if (repository !== undefined)
      await plainGit(['worktree', 'repair', `${aside}/tree`], { root: repository, env }).catch(() => '');
    return;
  }
  throw new Error(`${ASIDE_MAX} work trees of ${run.name} wait for somebody to look at them`);
}
