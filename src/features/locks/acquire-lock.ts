import { type Area, areaName, covers } from '../../kernel/area.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type FirstStep, first, type Loaded, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type Caller, grant, type Lease, renew, standing } from '../../ledger/lease.ts';
import { reasonAgain } from './automatic-lock.ts';
import { blocked, secondsSince } from './blocked.ts';
import {
  decideWith,
  fullBelow,
  overIn,
  type ReachFindings,
  reachOf,
  suffices,
  tooMuchBelow,
  type Wish,
} from './reach.ts';
import {
  type Held,
  hasFolder,
  type LockState,
  leaseOf,
  lockEvent,
  lockedFolders,
  lockKey,
  placeOf,
  withFolders,
} from './state.ts';

export interface AcquireLock extends Wish {
  readonly ttl_ms: number;
  readonly reason: string | undefined;
  /** Requested with a single path: the answer is about that path. */
  readonly single: boolean;
  /** The caller has been waiting, not only announcing itself: the answer says for how long. */
  readonly waited?: boolean | undefined;
}

/** What `operations/acquire-lock-operation.ts` has to do before it asks again. */
export type LockStep =
  /** Say in the folder's record that the caller wants it. */
  | { readonly step: 'announce' }
  /** Free what has expired at these places. */
  | { readonly step: 'tidy'; readonly places: readonly string[] };

/**
 * Takes everything wanted in one commit, or nothing. Files are decided by their own records and those of
 * locked folders above, all expected unchanged. What lies below a folder is a range, which no commit can
 * expect. So a caller that wants a folder first announces that in the folder's record (`announce`), where
 * every later caller for a file below sees it, and only then reads the range.
 */
export function acquireLock(command: AcquireLock): Decision<JsonObject> {
  const { areas } = command;
  return decideWith(command, (findings, loaded, now_ms) => {
    if (findings.over.length > limits.expiries_per_commit) return first(tidy(findings.over));
    const superseded = supersededGrant(command, loaded, now_ms);
    if (superseded !== undefined) return refused(superseded);
    if (findings.blockers.length > 0) return refused(blocked(command, findings, now_ms));
    if (!hasFolder(areas)) return grantAll(command, findings, loaded, now_ms);
    const fresh = areas.filter((area) => !findings.own.some((own) => suffices(own, area, command)));
    const full = fullBelow(reachOf(fresh), loaded);
    if (full !== undefined) {
      const over = full.flatMap(({ id, state }) => overIn(id, state, now_ms));
      return over.length > 0 ? first(tidy(over)) : refused(tooMuchBelow());
    }
    if (hasFolder(fresh) && findings.line === undefined) return first({ step: 'announce' });
    return grantAll(command, findings, loaded, now_ms);
  });
}

/** Where it expired: in the file's own record, in a folder above or anywhere below. */
function tidy(over: readonly EventBody[]): FirstStep {
  return { step: 'tidy', places: [...new Set(over.map(({ id }) => id))] } satisfies LockStep;
}

/** The named grant is the caller's own, but no longer the current one. */
function supersededGrant(
  { areas, caller }: AcquireLock,
  loaded: Loaded,
  now_ms: number,
): Refusal | undefined {
  if (caller.token === undefined) return undefined;
  for (const area of areas) {
    const own = ownLease(area, caller, loaded);
    if (standing(own, caller, now_ms).standing === 'superseded' && own !== undefined)
      return supersededLock(areaName(area), caller, own);
  }
  return undefined;
}

function ownLease({ place, pattern }: Area, { agent_id }: Caller, loaded: Loaded): Held | undefined {
  const { leases } = placeOf(loaded.get<LockState>(lockKey(place))?.state);
  return leases.find((held) => held.agent_id === agent_id && held.pattern === pattern);
}

function grantAll(command: AcquireLock, findings: ReachFindings, loaded: Loaded, now_ms: number) {
  const { areas, waiter_id } = command;
  const { own, line } = findings;
  const events = [...findings.over];
  const locks: JsonObject[] = [];
  let not_after_ms = line?.alive_until_ms ?? Number.POSITIVE_INFINITY;
  for (const area of areas) {
    const granted = grantOne(command, area, loaded, now_ms);
    events.push(...granted.events);
    locks.push(granted.answer);
    // The caller's own lease must be alive at the commit if it is extended or ended, or makes a check of
    // other leases unnecessary.
    for (const held of own)
      if (covers(held.area, area)) not_after_ms = Math.min(not_after_ms, held.lease.expires_at_ms);
    if (waiter_id === undefined) continue;
    const { waiters } = placeOf(loaded.get<LockState>(lockKey(area.place))?.state);
    if (waiters.some((each) => each.id === waiter_id && each.pattern === area.pattern))
      events.push(lockEvent(area.place, 'lock_wait_ended', { waiter_id, pattern: area.pattern }));
  }
  const all = withFolders(events, loaded);
  if (all === undefined)
    return first({ step: 'tidy', places: [...lockedFolders(loaded)] } satisfies LockStep);
  const waited =
    command.waited && line !== undefined ? { waited_seconds: secondsSince(line.since_ms, now_ms) } : {};
  const refreshed = locks.every(({ action }) => action === 'refreshed');
  const answer: JsonObject = command.single
    ? { success: true, ...locks[0], ...waited }
    : { success: true, action: refreshed ? 'refreshed' : 'acquired', locks, ...waited };
  return commit(all, answer, Number.isFinite(not_after_ms) ? not_after_ms : undefined);
}

function grantOne(
  { caller, ttl_ms, reason, shared }: AcquireLock,
  area: Area,
  loaded: Loaded,
  now_ms: number,
): { events: EventBody[]; answer: JsonObject } {
  const record = loaded.get<LockState>(lockKey(area.place));
  const before = ownLease(area, caller, loaded);
  const current = standing(before, caller, now_ms);
  const about = { shared: shared === true ? true : undefined, pattern: area.pattern } as const;
  const named = { action: 'acquired', file_path: areaName(area) };
  if (record !== undefined && before !== undefined && current.standing === 'mine') {
    const why = reasonAgain(reason, before.reason);
    if (before.shared !== true || shared === true) {
      const lease = renew(record, leaseOf(before), caller, ttl_ms, now_ms);
      const event = lockEvent(area.place, 'lock_refreshed', granted(lease, why, about));
      return { events: [event], answer: { ...named, action: 'refreshed', ...terms(lease, about) } };
    }
    // From shared to exclusive is a new grant: other agents may have read under later tokens than this one's.
    const lease = grant(record, caller, ttl_ms, now_ms);
    const events = [
      lockEvent(area.place, 'lock_released', { token: before.token, pattern: area.pattern }),
      lockEvent(area.place, 'lock_acquired', granted(lease, why, about)),
    ];
    return { events, answer: { ...named, ...terms(lease, about) } };
  }
  const lease = grant(record, caller, ttl_ms, now_ms);
  const event = lockEvent(area.place, 'lock_acquired', granted(lease, reason, about));
  return { events: [event], answer: { ...named, ...terms(lease, about) } };
}

function granted(lease: Lease, reason: string | undefined, about: JsonObject): JsonObject {
  return { lease: { ...lease }, reason, ...about };
}

function terms(lease: Lease, { shared }: { readonly shared?: true | undefined }): JsonObject {
  const when = { expires_at: isoTime(lease.expires_at_ms), fencing_token: lease.token };
  return shared === true ? { shared, ...when } : when;
}

export function supersededLock(path: string, caller: Caller, lease: Lease) {
  const message = `Grant ${caller.token} of ${path} is over; grant ${lease.token} of ${lease.agent_id} has replaced it.`;
  return refuse('superseded', message, {
    file_path: path,
    locked_by: lease.agent_id,
    expires_at: isoTime(lease.expires_at_ms),
    fencing_token: lease.token,
  });
}
