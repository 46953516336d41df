import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreFailure } from '../../kernel/refusal.ts';
import { findWorkspace, type Workspace } from '../../kernel/workspace.ts';
import type { Actor } from '../../ledger/log.ts';
import { open } from '../../runtime/open.ts';
import { defaultStore } from '../../runtime/open-ledger.ts';
import { describeHolder, everyLock, heldAmong, heldByTheLiving } from '../shared/files-held.ts';
import type { HeldFile } from '../shared/held-by-others.ts';
import { type Committer, findCommitter } from './git-committer.ts';

export interface CheckPlace {
  /** Undefined: each repository's own store. */
  readonly store: string | undefined;
  readonly project: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** When it was committed, for a commit that already exists: a lock taken later was not in its way. */
  readonly at_ms?: number;
}

export interface Conflict {
  readonly held: HeldFile[];
  readonly committer: Committer;
  readonly now_ms: number;
}

const REPOSITORIES_MAX = 4;

/**
 * The locks of other agents on the files that a commit or a push changes; undefined if there are none. The
 * files are listed only if anything is locked at all, and the committer is identified only if it matters:
 * most commits cost one read of the store.
 */
export async function findConflict(
  place: CheckPlace,
  fallback: Actor,
  changed: () => Promise<readonly string[]>,
): Promise<Conflict | undefined> {
  const repositories = repositoriesAround(place.cwd);
  const [{ root } = { root: place.cwd }] = repositories;
  let names: readonly string[] | undefined;
  for (const workspace of repositories) {
    const store = storeOf(place, workspace);
    if (store === undefined) continue;
    const coxswain = await open({ ...place, store, cwd: workspace.root, presence: 'off' });
    try {
      const locks = await everyLock(coxswain);
      if (locks?.length === 0) continue;
      names ??= await changed();
      const paths = names.map((name) => `${root}/${name}`);
      const held = await heldAmong(paths, coxswain, locks);
      if (held.length === 0) continue;
      const committer = await findCommitter(coxswain, fallback, place.env);
      const { at_ms = Number.POSITIVE_INFINITY } = place;
      const foreign = held.filter(
        ({ lease }) => lease.agent_id !== committer.agent_id && lease.granted_at_ms <= at_ms,
      );
      const { alive, now_ms } = await heldByTheLiving(foreign, coxswain);
      if (alive.length > 0) return { held: alive.map(describeHolder), committer, now_ms };
    } finally {
      await coxswain.close();
    }
  }
  return undefined;
}

/**
 * A submodule is a repository of its own. An agent working in the outer repository may hold its files under
 * their names there.
 */
function repositoriesAround(cwd: string): Workspace[] {
  const found: Workspace[] = [];
  let folder = cwd;
  for (let count = 0; count < REPOSITORIES_MAX; count += 1) {
    const workspace = findWorkspace(folder);
    if (workspace.gitCommonDir === undefined) break;
    // A worktree may lie inside the main one.
    if (!found.some(({ gitCommonDir }) => gitCommonDir === workspace.gitCommonDir)) found.push(workspace);
    folder = dirname(workspace.root);
  }
  return found;
}

/** Undefined: nothing has ever been locked here. A read must not create a store. */
function storeOf({ store, cwd }: CheckPlace, workspace: Workspace): string | undefined {
  const url = store ?? defaultStore(workspace);
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file === undefined || existsSync(resolve(cwd, file))) return url;
  if (store === undefined) return undefined;
  throw new StoreFailure('database_unavailable', `There is no store at ${file}.`);
}
