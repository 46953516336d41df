import { relative, resolve } from 'node:path';
import type { Sweep } from '../../command-analysis/shell/shell-findings.ts';
import type { HeldBy } from '../../features/locks/index.ts';
import { findWorkspace } from '../../kernel/workspace.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { differingFiles } from './differing-files.ts';
import { describeHolder, everyLock, heldAmong, heldByTheLiving } from './files-held.ts';
import { withoutAliases } from './git-aliases.ts';
import { foreseen } from './git-foresight.ts';
import type { HeldFile } from './held-by-others.ts';
import { Neighbours } from './neighbours.ts';

const GIT_MS_MAX = 2000;
const TREES_MAX = 32;

/**
 * Commands that discard uncommitted changes, whichever agent made them. Git itself keeps the other commands
 * (pull, merge, switch) from doing so.
 */
const DISCARDS = new Set([
  'git checkout --force',
  'git checkout .',
  'git checkout-index --force',
  'git switch --force',
  'git restore .',
  'git reset --hard',
  'git reset --merge',
  'git clean',
  'git clean .',
  'git stash',
  'git stash .',
  'git read-tree -u',
]);
/** Commands that also remove untracked files. */
const TAKES_UNTRACKED = /^git (?:clean|stash)\b/;

/** Where the commands would run, and for which agent. */
export interface SweepContext {
  readonly coxswain: Coxswain;
  readonly actor: Actor;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Endangered {
  /** What is wrong with it, as a sentence. */
  readonly why: string;
  readonly held: readonly HeldFile[];
}

/**
 * The first of these commands that would throw away uncommitted changes to files that other agents hold, or
 * would change such files otherwise. Undefined: none would, as far as git can tell before they run.
 */
export async function endangered(
  asWritten: readonly Sweep[],
  context: SweepContext,
): Promise<Endangered | undefined> {
  const locks = await everyLock(context.coxswain);
  const isForeign = ({ lease }: Pick<HeldBy, 'lease'>) => lease.agent_id !== context.actor.agent_id;
  if (locks?.some(isForeign) === false) return undefined;
  const heldOf = async (paths: readonly string[]) =>
    (await heldAmong(paths, context.coxswain, locks)).filter(isForeign);
  const { sweeps, files: written } = await withoutAliases(asWritten, context);
  const named = written.length === 0 ? [] : await heldOf(written);
  if (named.length > 0)
    return {
      why: `\`${asWritten.find(({ isAlias }) => isAlias)?.command}\` is an alias that would change files that others hold.`,
      held: named.map(describeHolder),
    };
  // Each tree is read once for all commands that affect it.
  const byTree = Map.groupBy(sweeps, ({ folder }) => ownTree(resolve(context.cwd, folder), context));
  const failures: unknown[] = [];
  for (const [root, commands] of byTree) {
    if (root === undefined) continue;
    // An error in one tree must not hide what is at stake in another.
    const thrownAway = await uncommitted(root, commands, context).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
    const lost = thrownAway === undefined ? [] : await heldOf(thrownAway.files);
    if (lost.length > 0)
      return {
        why: `\`${thrownAway?.command}\` would throw away changes that others have not committed yet.`,
        held: lost.map(describeHolder),
      };
    for (const { sweep, files } of await foreseen(commands, { ...context, root })) {
      const { alive } = await heldByTheLiving(await heldOf(files), context.coxswain);
      const met = await withoutDistant(alive, root, context);
      if (met.length === 0) continue;
      const why = `\`${sweep.command}\` would change files that others hold, and must not begin. Wait, or use a work tree of your own (git worktree add).`;
      return { why, held: met.map(describeHolder) };
    }
  }
  if (failures.length > 0) throw failures[0];
  return undefined;
}

/** The top of a work tree of this repository; in any other place there is nothing of what is held here. */
function ownTree(folder: string, { coxswain }: SweepContext): string | undefined {
  const { root, gitCommonDir } = findWorkspace(folder);
  return gitCommonDir !== undefined && gitCommonDir === coxswain.workspace.gitCommonDir ? root : undefined;
}

async function uncommitted(
  root: string,
  commands: readonly Sweep[],
  { env }: SweepContext,
): Promise<{ readonly command: string | undefined; readonly files: readonly string[] } | undefined> {
  const discarding = commands.filter(({ command }) => DISCARDS.has(command));
  if (discarding.length === 0) return undefined;
  const untracked = discarding.some(({ command }) => TAKES_UNTRACKED.test(command));
  const changed = await differingFiles({ cwd: root, env, time_ms_max: GIT_MS_MAX }, { untracked });
  return { command: discarding[0]?.command, files: [...changed.keys()] };
}

/**
 * A lock does not say in which work tree its holder works. Its processes do, and uncommitted changes do: a holder
 * that is at work in another tree, and not in this one, loses nothing here. One of whom neither is known may be at work here.
 */
async function withoutDistant(
  held: readonly HeldBy[],
  root: string,
  { coxswain, actor, env }: SweepContext,
): Promise<readonly HeldBy[]> {
  const trees = coxswain.workspace.trees().filter(({ kind }) => kind === 'work');
  const others = trees.map(({ path }) => path).filter((path) => path !== root);
  if (held.length === 0 || others.length === 0 || others.length > TREES_MAX) return held;
  const neighbours = new Neighbours(coxswain, new Set([actor.session_id]));
  const agentsIn = async (roots: readonly string[]) => {
    const found = await Promise.all(roots.map((each) => neighbours.here(each)));
    return new Set(found.flat().map(({ agent_id }) => agent_id));
  };
  const changedIn = async (roots: readonly string[]) => {
    const found = await Promise.all(roots.map((each) => changedAmong(held, each, env)));
    return new Set(found.flat());
  };
  const [here, there] = [await agentsIn([root]), await agentsIn(others)];
  const [changedHere, changedThere] = [await changedIn([root]), await changedIn(others)];
  return held.filter(({ file, lease: { agent_id } }) => {
    if (here.has(agent_id) || changedHere.has(file)) return true;
    return !there.has(agent_id) && !changedThere.has(file);
  });
}

/** Which of the held files have uncommitted changes in a work tree. */
async function changedAmong(
  held: readonly HeldBy[],
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const named = held.map(({ file }) => resolve(root, file));
  const call = { cwd: root, env, time_ms_max: GIT_MS_MAX };
  const changed = await differingFiles(call, { named }).catch(() => new Map<string, string>());
  return [...changed.keys()].map((path) => relative(root, path));
}
