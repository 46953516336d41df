import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type ExclusiveLock,
  everyExclusiveLock,
  everyPlace,
  exclusiveLocksInReach,
  filesHeld,
  furtherNeeds,
  type HeldBy,
  reachOf,
} from '../../features/locks/index.ts';
import { type SessionState, sessionKey } from '../../features/sessions/index.ts';
import { areaName } from '../../kernel/area.ts';
import { isoTime } from '../../kernel/clock.ts';
import { normalisePath } from '../../kernel/path.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { findWorkspace, type Workspace } from '../../kernel/workspace.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { open } from '../../runtime/open.ts';
import { defaultStore } from '../../runtime/open-ledger.ts';
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

/** Locks are queried by file only if there are very many of them; then this many files at a time. */
const FILES_PER_LOOK = 50;
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
      const locks = await locksIn(coxswain);
      if (locks?.length === 0) continue;
      names ??= await changed();
      const files = new Set(names.map((name) => keyOf(`${root}/${name}`, workspace)));
      const held = filesHeld(files, locks ?? (await locksOn([...files], coxswain)));
      if (held.length === 0) continue;
      const committer = await findCommitter(coxswain, fallback, place.env);
      const { at_ms = Number.POSITIVE_INFINITY } = place;
      const foreign = held.filter(
        ({ lease }) => lease.agent_id !== committer.agent_id && lease.granted_at_ms <= at_ms,
      );
      const { alive, now_ms } = await heldByTheLiving(foreign, coxswain);
      if (alive.length > 0) return { held: alive.map(describe), committer, now_ms };
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

async function locksIn({ store, project }: Coxswain): Promise<ExclusiveLock[] | undefined> {
  const { loaded, now_ms } = await store.find(project, { ranges: [everyPlace] });
  return everyExclusiveLock(loaded, now_ms);
}

async function locksOn(files: readonly string[], { store, project }: Coxswain): Promise<ExclusiveLock[]> {
  const locks: ExclusiveLock[] = [];
  for (let start = 0; start < files.length; start += FILES_PER_LOOK) {
    const reach = reachOf(files.slice(start, start + FILES_PER_LOOK).map((file) => ({ place: file })));
    let { loaded, now_ms } = await store.find(project, reach.needs);
    const more = furtherNeeds(reach, loaded);
    if (more !== undefined) {
      const keys = [...(reach.needs.keys ?? []), ...(more.keys ?? [])];
      ({ loaded, now_ms } = await store.find(project, { keys }));
    }
    locks.push(...exclusiveLocksInReach(reach, loaded, now_ms));
  }
  return locks;
}

/** A session that has been silent for too long is dead: the next agent that wants its locks gets them. */
async function heldByTheLiving(
  held: readonly HeldBy[],
  { store, project, presence }: Coxswain,
): Promise<{ alive: HeldBy[]; now_ms: number }> {
  const { loaded, now_ms } = await store.find(project, { keys: held.map(({ lease }) => sessionKey(lease)) });
  const alive = held.filter(({ lease }) => {
    const session = loaded.get<SessionState>(sessionKey(lease))?.state;
    return session === undefined || now_ms - session.last_heartbeat_ms < presence.stale_ms;
  });
  return { alive, now_ms };
}

/** A name that can't be locked by itself may still lie in a folder that can be. */
function keyOf(path: string, workspace: Workspace): string {
  const normal = normalisePath(path, workspace);
  return normal.ok ? normal.key : path.slice(workspace.root.length + 1).normalize('NFC');
}

function describe({ file, area, lease }: HeldBy): HeldFile {
  const name = areaName(area);
  return {
    path: file,
    held_by: lease.agent_id,
    agent_type: lease.agent_type,
    reason: lease.reason,
    expires_at: isoTime(lease.expires_at_ms),
    within: name === file ? undefined : name,
  };
}
