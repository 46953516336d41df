import { resolve } from 'node:path';
import type { Sweep } from '../../command-analysis/shell/shell-findings.ts';
import { overlap } from '../../kernel/area.ts';
import { normaliseArea } from '../../kernel/path.ts';
import { findWorkspace } from '../../kernel/workspace.ts';
import { differingFiles } from '../shared/differing-files.ts';
import { type HeldFile, heldByOthers } from '../shared/held-by-others.ts';
import { heldText } from './held-text.ts';
import { locksOn } from './hook-locks.ts';
import type { HookPlace } from './hook-place.ts';

const GIT_MS_MAX = 2000;

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

/**
 * A lock does not say in which work tree its holder works; the disk does. Work is at stake only if a held
 * file has uncommitted changes in the very tree that the command is about. A holder in another tree has
 * nothing to lose here.
 */
export async function endangered(
  sweeps: readonly Sweep[],
  place: HookPlace,
  cwd: string,
): Promise<string | undefined> {
  const discarding = sweeps.filter(({ command }) => DISCARDS.has(command));
  if (discarding.length === 0) return undefined;
  const exclusive = (await locksOn(place)).filter(({ shared }) => shared !== true);
  const held = heldByOthers({ locks: exclusive }, place.actor.agent_id);
  if (held.length === 0) return undefined;
  // Each tree is read once for all commands that affect it.
  const byTree = Map.groupBy(discarding, ({ folder }) => ownTree(resolve(cwd, folder), place));
  const failures: unknown[] = [];
  for (const [root, commands] of byTree) {
    if (root === undefined) continue;
    const untracked = commands.some(({ command }) => TAKES_UNTRACKED.test(command));
    // An error in one tree must not hide what is at stake in another.
    const call = { cwd: root, env: place.env, time_ms_max: GIT_MS_MAX };
    const changed = await differingFiles(call, { untracked }).catch((error: unknown) => {
      failures.push(error);
      return new Map<string, string>();
    });
    const lost = atStake(held, [...changed.keys()], place);
    if (lost.length === 0) continue;
    const text = heldText(lost, place.coxswain.clock.now_ms());
    return `\`${commands[0]?.command}\` would throw away changes that others have not committed yet.\n${text}`;
  }
  if (failures.length > 0) throw failures[0];
  return undefined;
}

/** The top of a work tree of this repository; in any other place there is nothing of what is held here. */
function ownTree(folder: string, { coxswain }: HookPlace): string | undefined {
  const { root, gitCommonDir } = findWorkspace(folder);
  return gitCommonDir !== undefined && gitCommonDir === coxswain.workspace.gitCommonDir ? root : undefined;
}

function atStake(held: readonly HeldFile[], changed: readonly string[], { coxswain }: HookPlace): HeldFile[] {
  const areaOf = (name: string) => {
    const normal = normaliseArea(name, coxswain.workspace);
    return normal.ok ? normal.area : undefined;
  };
  const areas = held.map((file) => ({ file, area: areaOf(file.path) }));
  return changed.flatMap((path) => {
    const area = areaOf(path);
    if (area === undefined) return [];
    const by = areas.find((each) => each.area !== undefined && overlap(each.area, area));
    return by === undefined ? [] : [by.file];
  });
}
