import { type BigIntStats, existsSync, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type GitCall, git } from '../../child-process/git.ts';
import { quickClock } from '../../kernel/clock.ts';
import { limits } from '../../kernel/limits.ts';
import { findWorkspace } from '../../kernel/workspace.ts';
import { differingFiles } from '../shared/differing-files.ts';
import { isSlow, noteSlow, takeStart } from './command-start.ts';
import type { HookCall } from './hook-call.ts';

/** A status of 100,000 files takes a third of a second; the client waits for this hook. */
const GIT_MS_MAX = 1200;
const SECOND_NS = 1_000_000_000n;
const FILES_MAX = limits.changeset_files_max;
const WAITING = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/** What changed in a work tree while a command ran there. */
export interface CommandChanges {
  readonly root: string;
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly since_ms: number;
  /** Why not all of it is known, for the log of the hooks. */
  readonly problem?: string;
}

/**
 * What a program wrote without being told so on its command line: the uncommitted files that carry a time at or after the command's
 * beginning. Never rejects. Nothing for a command that only reads, as no beginning was noted.
 */
export async function changedDuring(call: HookCall, env: NodeJS.ProcessEnv): Promise<CommandChanges[]> {
  try {
    const start = takeStart(call, env);
    if (start === undefined) return [];
    // The client may already stand where the command has gone to.
    const trees = [start.cwd, call.cwd].map((folder) => findWorkspace(folder));
    const roots = new Set(trees.filter((tree) => tree.gitCommonDir !== undefined).map(({ root }) => root));
    const now_ms = quickClock.now_ms();
    const quick = [...roots].filter((root) => !isSlow(root, env, now_ms));
    return await Promise.all(quick.map((root) => changedIn(root, start.at_ns, env)));
  } catch (error) {
    return [{ root: call.cwd, since_ms: 0, files: [], problem: messageOf(error) }];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function changedIn(root: string, at_ns: bigint, env: NodeJS.ProcessEnv): Promise<CommandChanges> {
  const known = { root, since_ms: Number(at_ns / 1_000_000n) };
  const before_ms = quickClock.elapsed_ms();
  const call = { cwd: root, env, time_ms_max: GIT_MS_MAX };
  try {
    const differing = [...(await differingFiles(call, { withSubmodules: false }))];
    const fresh = differing.filter(([path]) => isNew(path, at_ns));
    const files = (await ofProgram(fresh, call)).map(([path]) => path);
    if (files.length <= FILES_MAX) return { ...known, files };
    const problem = `${files.length} files changed in ${root} during a command, and ${FILES_MAX} were looked at`;
    return { ...known, files: files.slice(0, FILES_MAX), problem };
  } catch (error) {
    if (quickClock.elapsed_ms() - before_ms >= GIT_MS_MAX) noteSlow(root, env);
    return { ...known, files: [], problem: messageOf(error) };
  }
}

/** While a merge, a pick or a rebase waits, git has staged what comes from other commits: no program wrote that. */
async function ofProgram(
  files: readonly (readonly [path: string, status: string])[],
  call: GitCall,
): Promise<readonly (readonly [path: string, status: string])[]> {
  if (!files.some(([, status]) => status.endsWith(' '))) return files;
  const folder = resolve(call.cwd, (await git(['rev-parse', '--git-dir'], call)).replace(/\n$/, ''));
  const isWaiting = WAITING.some((name) => existsSync(join(folder, name)));
  return isWaiting ? files.filter(([, status]) => !status.endsWith(' ')) : files;
}

/**
 * By the time of the last change of any kind, which a program can't set. Of a file that is gone, the folder says when: when the last
 * file came or went there.
 */
function isNew(path: string, at_ns: bigint): boolean {
  // A work tree inside this one.
  if (path.endsWith('/')) return false;
  const found = statOf(path);
  if (found !== undefined) return !found.isDirectory() && isSince(found.ctimeNs, at_ns);
  let folder = dirname(path);
  while (statOf(folder) === undefined && folder !== dirname(folder)) folder = dirname(folder);
  return isSince(statOf(folder)?.mtimeNs ?? 0n, at_ns);
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Some file systems keep whole seconds only. */
function isSince(time_ns: bigint, at_ns: bigint): boolean {
  return time_ns >= (time_ns % SECOND_NS === 0n ? at_ns - (at_ns % SECOND_NS) : at_ns);
}
