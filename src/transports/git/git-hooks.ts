import { constants } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '../shared/file-change.ts';
import {
  CHECKED_HOOKS,
  type CheckedHook,
  callsUs,
  hookScript,
  isOurs,
  KEPT,
  madeFolder,
  type Program,
  runKept,
} from './git-hook-script.ts';
import { type HooksFolder, HooksProblem } from './git-hooks-folder.ts';

interface FoundFile {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly isLink: boolean;
}

interface FoundHook {
  readonly name: CheckedHook;
  readonly path: string;
  readonly current: FoundFile | undefined;
  readonly ours: boolean;
  /** The hook that was there before ours. */
  readonly kept: FoundFile | undefined;
}

export type HookStatus = 'installed' | 'other' | 'none';

export interface HookReport {
  readonly hook: CheckedHook;
  readonly status: HookStatus;
  /** An earlier hook runs first. */
  readonly chained: boolean;
  /** It is ours, but calls another Node or a checkout at another path. */
  readonly outdated?: true;
}

export async function reportHooks(
  { path: folder }: HooksFolder,
  program: Pick<Program, 'node' | 'cox'>,
): Promise<HookReport[]> {
  const hooks = await Promise.all(CHECKED_HOOKS.map((name) => look(folder, name)));
  return hooks.map(({ name, current, ours, kept }) => {
    const status = ours ? 'installed' : current === undefined ? 'none' : 'other';
    const outdated = ours && !callsUs(String(current?.bytes), program);
    return { hook: name, status, chained: ours && kept !== undefined, ...(outdated ? { outdated } : {}) };
  });
}

/** The same as `installHooks`, for a caller that shows all changes first and makes them together. */
export async function planGitHooks({ path: folder }: HooksFolder, program: Program): Promise<FileChange[]> {
  const made = !(await exists(folder));
  const changes: FileChange[] = [];
  for (const name of CHECKED_HOOKS) {
    const hook = await checked(folder, name);
    if (hook.current?.isLink === true && !hook.ours)
      throw new HooksProblem(
        `${hook.path} is a symbolic link; \`cox git install\` can keep it, this cannot.`,
      );
    const after = wanted(hook, program, made);
    const { current, kept, path } = hook;
    if (current?.bytes.equals(after) === true) continue;
    if (current !== undefined && !hook.ours && kept === undefined)
      changes.push({ path: path + KEPT, before: undefined, after: current.bytes, mode: current.mode });
    changes.push({ path, before: current?.bytes, after, mode: HOOK_MODE });
  }
  return changes;
}

/** Returns whether anything changed. An existing hook is never missing, not even for a moment. */
export async function installHooks({ path: folder }: HooksFolder, program: Program): Promise<boolean> {
  const hooks = await Promise.all(CHECKED_HOOKS.map((name) => checked(folder, name)));
  const made = (await mkdir(folder, { recursive: true })) !== undefined;
  let changed = false;
  for (const hook of hooks) {
    const { path, current, ours, kept } = hook;
    const text = wanted(hook, program, made);
    if (current?.bytes.equals(text) === true) continue;
    changed = true;
    if (current !== undefined && !ours && kept === undefined) await keepBeside(path);
    const fresh = `${path}.${process.pid}.coxswain`;
    try {
      await writeFile(fresh, text, { mode: HOOK_MODE });
      // Another process may have put a hook there meanwhile: it is not overwritten.
      if (current === undefined) await link(fresh, path);
      else await rename(fresh, path);
    } finally {
      await rm(fresh, { force: true });
    }
  }
  return changed;
}

/** Restores the earlier hooks, and removes only ours. */
export async function uninstallHooks({ path: folder }: HooksFolder): Promise<boolean> {
  const hooks = await Promise.all(CHECKED_HOOKS.map((name) => look(folder, name)));
  const removed = hooks.filter(({ ours }) => ours);
  const emptied = removed.some(({ current }) => madeFolder(String(current?.bytes)));
  for (const { path, kept } of removed) {
    if (kept === undefined) await unlink(path);
    else await rename(path + KEPT, path);
  }
  for (const { path, current, ours, kept } of hooks)
    if (!ours && kept !== undefined && current?.bytes.equals(kept.bytes)) await unlink(path + KEPT);
  if (emptied) await rmdir(folder).catch(() => {});
  return removed.length > 0;
}

const HOOK_MODE = 0o755;

function wanted({ name, current, ours, kept }: FoundHook, program: Program, made = false): Buffer {
  const earlier = ours ? kept : current;
  const before = earlier === undefined ? () => '' : runKept(earlier.bytes);
  const madeIt = made || (ours && madeFolder(String(current?.bytes)));
  return Buffer.from(hookScript({ name, program, before, madeFolder: madeIt }));
}

async function look(folder: string, name: CheckedHook): Promise<FoundHook> {
  const path = join(folder, name);
  const [current, kept] = await Promise.all([readHook(path), readHook(path + KEPT)]);
  return {
    name,
    path,
    current,
    kept,
    ours: current !== undefined && isOurs(current.bytes.toString('latin1')),
  };
}

async function checked(folder: string, name: CheckedHook): Promise<FoundHook> {
  const hook = await look(folder, name);
  const { path, current, ours, kept } = hook;
  if (!ours && kept !== undefined && current?.bytes.equals(kept.bytes) !== true)
    throw new HooksProblem(
      `${path}${KEPT} is still there from before, and ${path} is another one now: remove one of the two.`,
    );
  return hook;
}

async function readHook(path: string): Promise<FoundFile | undefined> {
  try {
    const isLink = (await lstat(path)).isSymbolicLink();
    // The link's target may be missing; the link is kept all the same.
    const bytes = await readFile(path).catch((error) => (isLink ? Buffer.alloc(0) : Promise.reject(error)));
    const mode = isLink ? HOOK_MODE : (await stat(path)).mode & 0o777;
    return { bytes, mode, isLink };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The same file under a second name: its bytes, mode and times. A link stays a link. */
async function keepBeside(path: string): Promise<void> {
  try {
    await link(path, path + KEPT);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(String((error as NodeJS.ErrnoException).code)))
      throw error;
    await copyFile(path, path + KEPT, constants.COPYFILE_EXCL);
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
