import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { SessionName } from '../../ledger/log.ts';

const SESSION_CHANGES = 'session_changes';

/**
 * Marks that a session has reported changes. Ending a task checks this one record, which hardly any session
 * has, and only then reads what was changed.
 */
export const sessionChangesEntity: EntityType<Record<string, never>> = {
  kind: SESSION_CHANGES,
  steady: true,
  evolve: () => ({}),
  index: () => ({}),
};

export function sessionChangesKey({ agent_id, session_id }: SessionName): EntityKey {
  return { kind: SESSION_CHANGES, id: `${agent_id}\n${session_id}` };
}

/** Once per session. */
export function changesNoted(session: SessionName, loaded: Loaded): readonly EventBody[] {
  const key = sessionChangesKey(session);
  return loaded.get(key) === undefined ? [{ ...key, type: 'session_changed_files', data: {} }] : [];
}
