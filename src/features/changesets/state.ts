import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst } from '../../ledger/index-order.ts';
import type { Caller } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';

/** What a session changed. Verification and review find it by the session that made it. */
export interface Changeset {
  agent_id: string;
  session_id: string;
  agent_type?: string | undefined;
  files: string[];
  /** How many there are, if more than are stored. */
  file_count?: number | undefined;
  commit_sha?: string | undefined;
  /** What the change is compared with; default: the commit's parent. */
  base_sha?: string | undefined;
  branch?: string | undefined;
  /** For a person to look at; secrets masked, bounded in size. */
  diff?: string | undefined;
  summary?: string | undefined;
  /** How it was routed to verification, once it was. */
  routed?: Routed | undefined;
  created_at_ms: number;
}

export interface Routed {
  readonly commit_sha: string;
  readonly policies: readonly string[];
  readonly trust_level: number;
  /** The source of the file list: the agent itself, or git or GitHub, which can't be mistaken. */
  readonly files_from: 'agent' | 'git' | 'push';
  readonly file_count: number;
  /** Changed, but not declared. */
  readonly undeclared_files?: readonly string[] | undefined;
}

const CHANGESET = 'changeset';
const ALL = 'all/';
const UNWITNESSED = 'unwitnessed';

/** Names contain no line breaks, so no name is a prefix of another name's key. */
function ofSession({ agent_id, session_id }: SessionName): string {
  return `${agent_id}\n${session_id}\n`;
}

export const changesetEntity: EntityType<Changeset> = {
  kind: CHANGESET,
  evolve(state, event, at_ms) {
    switch (event.type) {
      case 'changeset_submitted':
        return { ...(event.data as unknown as Changeset), created_at_ms: at_ms };
      case 'changeset_routed':
        if (state === undefined) throw new Error(`changeset ${event.id} was routed before it was submitted`);
        return { ...state, routed: event.data as unknown as Routed };
      default:
        throw new Error(`unknown event of a changeset: ${event.type}`);
    }
  },
  index(state) {
    const when = newestFirst(state.created_at_ms);
    const links = state.routed?.files_from === 'agent' ? [UNWITNESSED] : undefined;
    return { sort: `${ALL}${when}`, group: `${ofSession(state)}${when}`, links };
  },
};

export function changesetKey(id: string): EntityKey {
  return { kind: CHANGESET, id };
}

export interface NewChangeset {
  readonly files: readonly string[];
  readonly file_count?: number | undefined;
  readonly commit_sha?: string | undefined;
  readonly base_sha?: string | undefined;
  readonly branch?: string | undefined;
  readonly diff?: string | undefined;
  readonly summary?: string | undefined;
}

const FILES_CHARS_MAX = 80_000;

/** As many as a record holds, however long their names are. */
export function keptFiles(files: readonly string[]): string[] {
  let chars = 0;
  return files.slice(0, limits.changeset_files_max).filter((file) => {
    chars += file.length;
    return chars <= FILES_CHARS_MAX;
  });
}

export function changesetEvent(id: string, caller: Caller, changeset: NewChangeset): EventBody {
  const { agent_id, agent_type, session_id } = caller;
  const data = { agent_id, agent_type, session_id, ...changeset } as unknown as JsonObject;
  return { ...changesetKey(id), type: 'changeset_submitted', data };
}

/** Newest first, of one session or of all. */
export function changesetRange(session: SessionName | undefined, limit: number): Range {
  return session === undefined
    ? prefixed('sort', CHANGESET, ALL, limit)
    : prefixed('group', CHANGESET, ofSession(session), limit);
}

/**
 * Routed by the agent's own list of files: a process with access to the repository checks whether it is true.
 */
export function unwitnessed(limit: number): Range {
  return prefixed('link', CHANGESET, UNWITNESSED, limit);
}

export function changesetsIn(range: Range, loaded: Loaded): JsonObject[] {
  return loaded.list<Changeset>(range).map(({ id, state }) => {
    // A diff is long, and only shown for a single change.
    const { created_at_ms, diff: _, routed, ...rest } = state;
    const verification = routed === undefined ? undefined : { ...(routed as unknown as JsonObject) };
    return { changeset_id: id, ...rest, verification, created_at: isoTime(created_at_ms) };
  });
}
