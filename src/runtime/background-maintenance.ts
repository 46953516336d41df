import { fleetService } from '../features/claims/fleet/index.ts';
import { idleSince } from '../features/claims/index.ts';
import { lastSign_ms, tendClaims } from '../features/claims/operations.ts';
import { silentSince, stillFreeing } from '../features/sessions/index.ts';
import { cleanupDeadAgents } from '../features/sessions/operations.ts';
import { limits } from '../kernel/limits.ts';
import type { Connection } from './coordinator.ts';
import type { Coxswain } from './coxswain.ts';
import { housekeeperOf } from './housekeeper.ts';

const ROUND_MS = 60_000;

/**
 * What a process that lives long does besides answering: it says for its own agents that they are still there, and it
 * cleans up after those who fell silent, and says whose claims are stale. Others would do that too, when they are turned away; this only makes it sooner.
 */
export function maintain(coxswain: Coxswain, own: () => Iterable<Connection> = () => []): { stop(): void } {
  const stopping = new AbortController();
  const housekeeper = housekeeperOf(coxswain);
  const work = async () => {
    const { clock, presence } = coxswain;
    let beaten_ms = clock.elapsed_ms();
    while (!stopping.signal.aborted) {
      await clock.sleep(Math.min(ROUND_MS, presence.stale_ms), stopping.signal);
      if (clock.elapsed_ms() - beaten_ms >= Math.min(limits.session_keep_alive_ms, presence.stale_ms / 3)) {
        beaten_ms = clock.elapsed_ms();
        for (const connection of own()) await connection.keepAlive();
      }
      await cleanUpSilent(coxswain, housekeeper).catch(() => {});
      await signalStaleClaims(coxswain, housekeeper).catch(() => {});
    }
  };
  // It ends by being stopped in its sleep.
  work().catch(() => {});
  return { stop: () => stopping.abort() };
}

/** Ends those who have been silent for too long, and frees what they held. */
export async function cleanUpSilent(coxswain: Coxswain, housekeeper: Connection): Promise<void> {
  if (!(await someoneIsSilent(coxswain))) return;
  const stale_threshold_minutes = coxswain.presence.stale_ms / 60_000;
  await housekeeper.performBuilt(cleanupDeadAgents, { stale_threshold_minutes });
}

/** Says about claims without a sign for too long that they are stale; who holds them keeps them. */
export async function signalStaleClaims(coxswain: Coxswain, housekeeper: Connection): Promise<void> {
  const { store, project } = coxswain;
  const rules = await coxswain.use(fleetService).rules();
  if ('success' in rules) return;
  const { now_ms } = await store.find(project, {});
  const range = { ...idleSince(lastSign_ms(rules, now_ms)), limit: 1 };
  const { loaded } = await store.find(project, { ranges: [range] });
  if (loaded.list(range).length > 0) await housekeeper.performBuilt(tendClaims, {});
}

/** Looked at first, so that a quiet day leaves no row every minute. */
async function someoneIsSilent({ store, project, presence }: Coxswain): Promise<boolean> {
  const { now_ms } = await store.find(project, {});
  const silent = silentSince(now_ms - presence.stale_ms);
  const { loaded } = await store.find(project, { ranges: [silent, stillFreeing] });
  return loaded.list(silent).length + loaded.list(stillFreeing).length > 0;
}
