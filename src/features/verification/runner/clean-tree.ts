import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hasEnded, readProcess } from '../../../child-process/client-process.ts';
import { endMarked } from '../../../child-process/marked.ts';
import { plainGit } from '../../../child-process/plain-git.ts';
import { addWorkTree } from '../../../child-process/work-tree.ts';
import type { VerificationJob } from './executor.ts';
import { runMark } from './runner-environment.ts';

const PREFIX = 'cox-verify-';
const OWNER_FILE = 'owner.json';

/** A folder with nothing in it but the files of one commit, and an empty home beside them. */
export interface CleanTree extends AsyncDisposable {
  readonly folder: string;
  readonly tree: string;
  readonly home: string;
  /** The name of the folder; marks the processes of the run. */
  readonly mark: string;
}

interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly host: string;
}

export async function checkOut(job: VerificationJob): Promise<CleanTree> {
  await removeLeftovers(job);
  const folder = await mkdtemp(join(await realpath(tmpdir()), PREFIX));
  const [tree, home, mark] = [join(folder, 'tree'), join(folder, 'home'), basename(folder)];
  const remove = () => removeTree(folder, job);
  try {
    const started = readProcess(process.pid)?.started ?? '';
    const owner: Owner = { pid: process.pid, started, host: hostname() };
    // Before there is anything to be left behind.
    writeFileSync(join(folder, OWNER_FILE), JSON.stringify(owner));
    mkdirSync(home);
    await addWorkTree(tree, job.commit_sha, job);
    for (const name of job.policy.link ?? []) link(job.root, tree, name);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, tree, home, mark, [Symbol.asyncDispose]: remove };
}

/** Only what the commit does not bring along itself, and only into the tree: a folder in it may be a link that leads out. */
function link(root: string, tree: string, name: string): void {
  const [from, to] = [join(root, name), join(tree, name)];
  if (!existsSync(from) || existsSync(to) || !existsSync(dirname(to))) return;
  if (realpathSync(dirname(to)) === dirname(to)) symlinkSync(from, to);
}

async function removeTree(folder: string, place: Pick<VerificationJob, 'root' | 'env'>): Promise<void> {
  endMarked(runMark(basename(folder)));
  await plainGit(['worktree', 'remove', '--force', '--force', join(folder, 'tree')], place).catch(() => '');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** What runners left that were killed: their processes, their trees, and git's notes of them. */
async function removeLeftovers(place: Pick<VerificationJob, 'root' | 'env'>): Promise<void> {
  const listed = await plainGit(['worktree', 'list', '--porcelain', '-z'], place).catch(() => '');
  for (const line of listed.split('\0')) {
    const folder = line.startsWith('worktree ') ? dirname(line.slice('worktree '.length)) : '';
    if (basename(folder).startsWith(PREFIX) && isLeft(folder)) await removeTree(folder, place);
  }
}

/** Another machine's, seen through a shared disk, is not ours to judge. */
function isLeft(folder: string): boolean {
  try {
    const owner = JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')) as Owner;
    return owner.host === hostname() && hasEnded(owner);
  } catch {
    return false;
  }
}
