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
import type { Workspace } from '../../kernel/workspace.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { HeldFile } from './held-by-others.ts';

/** Locks are queried by file only if there are very many of them; then this many files at a time. */
const FILES_PER_LOOK = 50;

/** Undefined: there are very many of them. */
export async function everyLock({ store, project }: Coxswain): Promise<ExclusiveLock[] | undefined> {
  const { loaded, now_ms } = await store.find(project, { ranges: [everyPlace] });
  return everyExclusiveLock(loaded, now_ms);
}

/** Which of these absolute paths are held exclusively, by which agent. `locks`: those of `everyLock`. */
export async function heldAmong(
  paths: readonly string[],
  coxswain: Coxswain,
  locks: readonly ExclusiveLock[] | undefined,
): Promise<HeldBy[]> {
  const files = new Set(paths.map((path) => keyOf(path, coxswain.workspace)));
  return filesHeld(files, locks ?? (await locksOn([...files], coxswain)));
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
export async function heldByTheLiving(
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

export function describeHolder({ file, area, lease }: HeldBy): HeldFile {
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
