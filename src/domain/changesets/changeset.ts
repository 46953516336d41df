import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { commit, type Decision, type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityType } from '../../ledger/entity.ts';
import type { Caller } from '../lease.ts';
import { newestFirst, type SessionName } from '../sessions/session.ts';

/** What a session changed. Whoever verifies or reviews it finds it by the session that made it. */
export interface Changeset {
  agent_id: string;
  session_id: string;
  files: string[];
  commit_sha?: string | undefined;
  summary?: string | undefined;
  created_at_ms: number;
}

const CHANGESET = 'changeset';
const ALL = 'all/';

/** Names hold no line breaks: no name is the beginning of another one's key. */
function ofSession({ agent_id, session_id }: SessionName): string {
  return `${agent_id}\n${session_id}\n`;
}

export const changesetEntity: EntityType<Changeset> = {
  kind: CHANGESET,
  evolve(_state, event, at_ms) {
    if (event.type !== 'changeset_submitted') throw new Error(`unknown event of a changeset: ${event.type}`);
    return { ...(event.data as unknown as Changeset), created_at_ms: at_ms };
  },
  index(state) {
    const when = newestFirst(state.created_at_ms);
    return { sort: `${ALL}${when}`, group: `${ofSession(state)}${when}` };
  },
};

function changesetKey(id: string): EntityKey {
  return { kind: CHANGESET, id };
}

export interface NewChangeset {
  readonly files: readonly string[];
  readonly commit_sha?: string | undefined;
  readonly summary?: string | undefined;
}

export function submitChangeset(id: string, caller: Caller, changeset: NewChangeset): Decision<JsonObject> {
  const { agent_id, session_id } = caller;
  const data = { agent_id, session_id, ...changeset } as unknown as JsonObject;
  return {
    needs: { keys: [changesetKey(id)] },
    decide: () =>
      commit([{ ...changesetKey(id), type: 'changeset_submitted', data }], {
        success: true,
        changeset_id: id,
        session_id,
      }),
  };
}

/** Newest first, of one session or of all. */
export function changesetRange(session: SessionName | undefined, limit: number): Range {
  return session === undefined
    ? prefixed('sort', CHANGESET, ALL, limit)
    : prefixed('group', CHANGESET, ofSession(session), limit);
}

export function listChangesets(range: Range, loaded: Loaded): JsonObject[] {
  return loaded.list<Changeset>(range).map(({ id, state }) => {
    const { created_at_ms, ...rest } = state;
    return { changeset_id: id, ...rest, created_at: isoTime(created_at_ms) };
  });
}
