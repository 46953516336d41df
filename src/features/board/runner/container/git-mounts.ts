import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Mount } from './mounts.ts';

const WORKSPACE = '/workspace';

/**
 * All parts of the common folder that a commit or a new branch writes to. To delete or rename a branch, git
 * locks `packed-refs` in the folder itself. A process that may write there could also add a `commondir`, and
 * with it replace the real configuration.
 */
const WRITTEN_BY_COMMITS = ['objects', 'refs', 'logs', 'reftable', 'lfs'];
/** The repository's own store. An agent asks for what it may know; it does not read the log. */
const OWN_STORE = 'coxswain';

export interface WorkspaceMounts {
  readonly mounts: readonly Mount[];
  readonly workdir: string;
}

/**
 * A linked worktree at /workspace. Its `.git` is a file with the path of
 * `<repository>/.git/worktrees/<name>`, which leads to the repository's own `.git`. Both are mounted at the
 * same paths as outside, or git would find nothing.
 *
 * Commits must work, but the agent must not choose what git runs on the machine (`config` names programs,
 * `hooks` are programs). So the common folder is mounted read-only, and only the parts that commits write to
 * are mounted writable on top of it. The pointers by which git outside finds its configuration are read-only
 * too; as mount points they can be neither replaced nor renamed. For the same reason the list of worktrees is
 * safe from a `git worktree prune` inside, where no other worktree is visible.
 *
 * `empty` is an empty folder.
 */
export function workspaceMounts(worktree: string, mode: 'ro' | 'rw', empty: string): WorkspaceMounts {
  const writable = mode === 'rw';
  const git = gitOf(worktree);
  if (git === undefined)
    return { mounts: [{ source: worktree, target: WORKSPACE, writable }], workdir: WORKSPACE };
  const workdir = git.isRelative || isWithin(git.common, WORKSPACE) ? worktree : WORKSPACE;
  const own = (path: string, isWritable: boolean): Mount => ({
    source: path,
    target: path,
    writable: isWritable,
  });
  const mounts: Mount[] = [{ source: worktree, target: workdir, writable }, own(git.common, false)];
  // Not with a tmpfs: podman would copy into it what it is meant to hide.
  const store = join(git.common, OWN_STORE);
  if (existsSync(store)) mounts.push({ source: empty, target: store, writable: false });
  if (!writable) return { mounts, workdir };
  for (const name of WRITTEN_BY_COMMITS)
    if (existsSync(join(git.common, name))) mounts.push(own(join(git.common, name), true));
  mounts.push(own(git.folder, true), ...pointersOf(git).map((path) => own(path, false)));
  mounts.push({ source: join(worktree, '.git'), target: join(workdir, '.git'), writable: false });
  return { mounts, workdir };
}

interface WorktreeGit {
  /** `<common>/worktrees/<name>` */
  readonly folder: string;
  readonly common: string;
  /** Newer versions of git can write a relative path. It is right only at the worktree's real location. */
  readonly isRelative: boolean;
}

function gitOf(worktree: string): WorktreeGit | undefined {
  const dotGit = join(worktree, '.git');
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const pointer = stat.isFile() ? /^gitdir: (.+?)\n?$/.exec(readFileSync(dotGit, 'utf8'))?.[1] : undefined;
  const folder = pointer === undefined ? undefined : resolve(worktree, pointer);
  if (pointer === undefined || folder === undefined || !existsSync(join(folder, 'commondir')))
    throw new Error(`${worktree} is no linked git worktree: a container would get all of its repository.`);
  const common = resolve(folder, readFileSync(join(folder, 'commondir'), 'utf8').trim());
  return { folder, common, isRelative: !isAbsolute(pointer) };
}

/** The files that lead git from the worktree's folder to its configuration. */
function pointersOf({ folder, common }: WorktreeGit): string[] {
  const pointers = [join(folder, 'commondir'), join(folder, 'gitdir')];
  const extra = join(folder, 'config.worktree');
  // Git reads it only if the repository says so. If it were missing, the agent could write it.
  const isRead = /worktreeconfig/i.test(readIfThere(join(common, 'config')));
  if (isRead && !existsSync(extra)) writeFileSync(extra, '', { flag: 'a' });
  if (existsSync(extra)) pointers.push(extra);
  return pointers;
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function isWithin(path: string, folder: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true;
    if (at === dirname(at)) return false;
  }
}
