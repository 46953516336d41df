import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { SessionName } from '../../ledger/log.ts';

const SESSION_CHANGES = 'session_changes';

/**
 * That a session has said it changed something. Whoever ends a task goes by this one record, which hardly any session has, and
 * only then looks at what was changed.
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

/** Once a session. */
export function changesNoted(session: SessionName, loaded: Loaded): readonly EventBody[] {
  const key = sessionChangesKey(session);
  return loaded.get(key) === undefined ? [{ ...key, type: 'session_changed_files', data: {} }] : [];
}
