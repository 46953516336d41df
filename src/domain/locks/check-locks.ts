import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, type Needs, prefixed } from '../../ledger/decision.ts';
import { HELD, LOCK, type LockRecord, type LockState, lockKey } from './lock.ts';

const all = prefixed('sort', LOCK, HELD, limits.locks_listed_max);

export function checkLocksNeeds(paths: readonly string[] | undefined): Needs {
  return paths === undefined ? { ranges: [all] } : { keys: paths.map(lockKey) };
}

/** Who holds what, why, until when. A lock past its expiry is not listed: it is free. */
export function checkLocks(paths: readonly string[] | undefined, loaded: Loaded, now_ms: number): JsonObject {
  const records =
    paths === undefined
      ? loaded.list<LockState>(all)
      : paths.map((path) => loaded.get<LockState>(lockKey(path)));
  const locks = records.flatMap((record) => describe(record, now_ms));
  locks.sort((a, b) => ((a.file_path ?? '') < (b.file_path ?? '') ? -1 : 1));
  const more = paths === undefined && records.length === limits.locks_listed_max;
  return { success: true, locks, ...(more ? { truncated: true } : {}) };
}

function describe(record: LockRecord | undefined, now_ms: number): JsonObject[] {
  const lease = record?.state.lease;
  if (record === undefined || lease === undefined || now_ms >= lease.expires_at_ms) return [];
  return [
    {
      file_path: record.id,
      locked_by: lease.agent_id,
      agent_type: lease.agent_type,
      session_id: lease.session_id,
      locked_at: isoTime(lease.granted_at_ms),
      expires_at: isoTime(lease.expires_at_ms),
      fencing_token: lease.token,
      reason: record.state.reason,
    },
  ];
}
