import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, type Needs, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst, padded } from '../../ledger/index-order.ts';
import type { SessionName } from '../../ledger/log.ts';

/** One period of an agent's work. If an agent has several sessions, each lives and dies by itself. */
export interface SessionState {
  agent_id: string;
  agent_type: string;
  session_id: string;
  capabilities: string[];
  current_task?: string | undefined;
  started_at_ms: number;
  /** The last sign of life of any kind … */
  last_heartbeat_ms: number;
  /** … and the last time it made a call. */
  last_active_ms: number;
  ended_at_ms?: number | undefined;
  /** Why it ended: `ended` by itself, or `silent` for too long. */
  end_reason?: string | undefined;
  /** It has ended and may still hold something; the next clean-up continues with it. */
  freeing?: true | undefined;
  /** Hash of the secret that was returned by its registration. */
  token_hash?: string | undefined;
}

export type SessionRecord = EntityRecord<SessionState>;

export type SessionStatus = 'active' | 'idle' | 'disconnected';

const SESSION = 'session';

/** Names contain no control characters, so the two parts can't be confused. */
const SEPARATOR = '\n';

export function sessionKey({ agent_id, session_id }: SessionName): EntityKey {
  return { kind: SESSION, id: `${agent_id}${SEPARATOR}${session_id}` };
}

export function sessionEvent(name: SessionName, type: string, data: EventBody['data'] = {}): EventBody {
  return { ...sessionKey(name), type, data };
}

/** The session belongs to an agent of this type, and has not ended. */
export function isHere(
  state: SessionState | undefined,
  { agent_type }: Pick<SessionState, 'agent_type'>,
): boolean {
  return state !== undefined && state.ended_at_ms === undefined && state.agent_type === agent_type;
}

const LIVE = 'live/';
const FREEING = 'freeing/';
const ENDED = 'ended/';

function capabilityLink(capability: string): string {
  return `capability/${capability}${SEPARATOR}`;
}

/** Sessions without a sign of life since then, longest silent first. */
export function silentSince(time_ms: number): Range {
  const before = `${LIVE}${padded(time_ms)}`;
  return { by: 'sort', kind: SESSION, from: LIVE, before, limit: limits.sessions_per_round };
}

/** Sessions that have ended and may still hold something. */
export const stillFreeing: Range = prefixed('group', SESSION, FREEING, limits.sessions_per_round);

/** Sessions that have not ended and have shown a sign of life since then. */
export function heardSince(time_ms: number): Range {
  const from = `${LIVE}${padded(Math.max(0, time_ms))}`;
  return { ...prefixed('sort', SESSION, LIVE, limits.sessions_listed_max), from };
}

export const sessionEntity: EntityType<SessionState> = {
  kind: SESSION,
  evolve,
  index(state) {
    const group = state.freeing ? FREEING : undefined;
    if (state.ended_at_ms !== undefined) return { sort: `${ENDED}${newestFirst(state.ended_at_ms)}`, group };
    return {
      group,
      sort: `${LIVE}${padded(state.last_heartbeat_ms)}`,
      links: state.capabilities.map(capabilityLink),
    };
  },
};

function evolve(state: SessionState | undefined, event: EventBody, at_ms: number): SessionState {
  const data = event.data as Partial<SessionState>;
  const seen = { last_heartbeat_ms: at_ms, last_active_ms: at_ms };
  const back = { ended_at_ms: undefined, end_reason: undefined, freeing: undefined };
  if (event.type === 'session_started') return { ...(data as SessionState), started_at_ms: at_ms, ...seen };
  if (state === undefined) throw new Error(`${event.type} of a session that never started: ${event.id}`);
  switch (event.type) {
    case 'session_registered':
      return { ...state, ...back, ...data, ...seen };
    case 'session_resumed':
      return { ...state, ...back, ...seen };
    case 'session_active':
      return { ...state, ...seen };
    case 'session_heartbeat':
      return { ...state, last_heartbeat_ms: at_ms };
    case 'session_ended':
      return { ...state, ended_at_ms: at_ms, end_reason: data.end_reason, freeing: true };
    case 'session_freed':
      return { ...state, freeing: undefined };
    default:
      throw new Error(`unknown event of a session: ${event.type}`);
  }
}

/** Only time turns an active session idle, so this is computed on reading. */
function statusOf(state: SessionState, idle_ms: number, now_ms: number): SessionStatus {
  if (state.ended_at_ms !== undefined) return 'disconnected';
  return now_ms - state.last_active_ms >= idle_ms ? 'idle' : 'active';
}

export interface Discovery {
  readonly capability?: string | undefined;
  readonly status?: SessionStatus | undefined;
  readonly idle_ms: number;
}

function rangesOf({ capability, status }: Discovery): Range[] {
  const live =
    capability === undefined
      ? prefixed('sort', SESSION, LIVE, limits.sessions_listed_max)
      : prefixed('link', SESSION, capabilityLink(capability), limits.sessions_listed_max);
  if (status !== 'disconnected') return [live];
  return [prefixed('sort', SESSION, ENDED, limits.sessions_listed_max)];
}

export function discoverNeeds(discovery: Discovery): Needs {
  return { ranges: rangesOf(discovery) };
}

export function discoverAgents(
  discovery: Discovery,
  list: (range: Range) => readonly SessionRecord[],
  now_ms: number,
): JsonObject {
  const { capability, status, idle_ms } = discovery;
  const agents = rangesOf(discovery)
    .flatMap(list)
    .filter(({ state }) => capability === undefined || state.capabilities.includes(capability))
    .map(({ state }) => describeSession(state, idle_ms, now_ms))
    .filter((agent) => status === undefined || agent.status === status);
  return { success: true, agents };
}

function describeSession(state: SessionState, idle_ms: number, now_ms: number): JsonObject {
  return {
    agent_id: state.agent_id,
    agent_type: state.agent_type,
    session_id: state.session_id,
    capabilities: state.capabilities,
    status: statusOf(state, idle_ms, now_ms),
    current_task: state.current_task ?? null,
    started_at: isoTime(state.started_at_ms),
    last_heartbeat: isoTime(state.last_heartbeat_ms),
    ended_at: state.ended_at_ms === undefined ? undefined : isoTime(state.ended_at_ms),
  };
}

/** The names of agents that have said they are capable of it and have a session that is alive. */
export async function agentsWithCapability(
  capability: string,
  find: (needs: Needs) => Promise<{ loaded: Loaded }>,
): Promise<string[]> {
  const needs = discoverNeeds({ capability, idle_ms: 0 });
  const { loaded } = await find(needs);
  const sessions = (needs.ranges ?? []).flatMap((range) => loaded.list<SessionState>(range));
  return [...new Set(sessions.map(({ state }) => state.agent_id))];
}
