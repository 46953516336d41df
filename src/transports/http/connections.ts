import type { IncomingHttpHeaders } from 'node:http';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import { invalid } from '../../runtime/answer.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { Authority } from '../../runtime/operation.ts';
import { type Checked, checkIdentity } from '../shared/identity.ts';
import type { Identity, Principal } from './authenticate.ts';

/** At least the last thousand are kept. */
const CONNECTIONS_MAX = 2000;

/** A caller without an identity may read, not change. */
const ANONYMOUS = { agent_id: 'anonymous', agent_type: 'http', session_id: 'http-anonymous' };

const HEADERS = { agent_id: 'x-agent-id', agent_type: 'x-agent-type', session_id: 'x-session-id' } as const;
const FIELDS = ['agent_id', 'agent_type', 'session_id'] as const;

/**
 * One connection per credential, agent and session, so that a release without a token means the grant this
 * session got. If there are too many, the least recently used ones are dropped. A caller that states another
 * agent type than before gets a new connection. All it loses is that memory, and a token in the request
 * replaces it.
 */
export class Connections {
  readonly #coxswain: Coxswain;
  readonly #known = new BoundedMap<Connection>(CONNECTIONS_MAX);
  readonly anonymous: Connection;

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
    this.anonymous = coxswain.connect(ANONYMOUS, 'agent', { shows: 'never', door: 'http' });
  }

  /**
   * Takes the identity from the body, where it is beside the operation's own fields, or from the headers, and
   * checks it against what the credential proves.
   */
  find(
    body: JsonObject,
    headers: IncomingHttpHeaders,
    principal: Principal | undefined,
    must: boolean,
  ): Connection | Refusal {
    const bound = principal?.actor;
    if (bound !== undefined) {
      const spoofed = refuseOthers(bound, body, headers);
      if (spoofed !== undefined) return spoofed;
    }
    const {
      agent_id = bound?.agent_id ?? headers['x-agent-id'] ?? principal?.unless_named,
      session_id = bound?.session_id ?? headers['x-session-id'],
      agent_type = bound?.agent_type ?? headers['x-agent-type'],
    } = body;
    // Without a key a caller could claim any identity, and the log would record it.
    if (agent_id === undefined || principal === undefined) {
      if (must) return invalid('agent_id', 'who is asking: agent_id in the body or the header X-Agent-Id');
      // Whatever else it says about itself must still be valid.
      const checked = checkIdentity({ agent_id, session_id, agent_type });
      return checked.ok ? this.anonymous : checked.refusal;
    }
    const { authority, credential } = principal;
    // Only text can be a key, and only identities checked before are known.
    const isText =
      typeof agent_id === 'string' && (session_id === undefined || typeof session_id === 'string');
    const key = isText ? `${credential}\0${agent_id}\0${session_id ?? ''}` : '';
    const known = this.#known.get(key);
    // What it leaves out is as it said last. What another credential said about the same agent counts only
    // for that credential.
    if (known !== undefined && (agent_type === undefined || agent_type === known.actor.agent_type)) {
      this.#known.set(key, known);
      return known;
    }
    // A person's name can't belong to any other credential; it was checked when the key was made.
    const claimed = authority === 'person' ? { session_id } : { agent_id, session_id, agent_type };
    const checked = checkIdentity(claimed);
    if (!checked.ok) return checked.refusal;
    const identity = authority === 'person' ? { ...checked.identity, ...bound } : checked.identity;
    return this.#add(key, identity, authority);
  }

  #add(
    key: string,
    { agent_id = '', agent_type = 'http', session_id }: Partial<Actor>,
    authority: Authority,
  ) {
    const standing = `http-${agent_id}`.slice(0, limits.agent_id_chars_max);
    const actor = { agent_id, agent_type, session_id: session_id ?? standing };
    const connection = this.#coxswain.connect(actor, authority, { door: 'http' });
    this.#known.set(key, connection);
    return connection;
  }
}

/**
 * The caller of a request whose body is not ours: from the headers, checked against what the credential
 * proves.
 */
export function identify(headers: IncomingHttpHeaders, principal: Principal): Checked {
  const bound = principal.actor;
  const spoofed = bound === undefined ? undefined : refuseOthers(bound, {}, headers);
  if (spoofed !== undefined) return { ok: false, refusal: spoofed };
  const said = Object.fromEntries(FIELDS.map((field) => [field, headers[HEADERS[field]]]));
  const checked = checkIdentity(principal.authority === 'person' ? { session_id: said.session_id } : said);
  return checked.ok ? { ok: true, identity: { ...checked.identity, ...defined(bound) } } : checked;
}

function defined({ agent_id, agent_type, session_id }: Partial<Identity> = {}): Partial<Actor> {
  return {
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(agent_type === undefined ? {} : { agent_type }),
    ...(session_id === undefined ? {} : { session_id }),
  };
}

/**
 * Also where nothing is done in an agent's name, or the query is not read: a request that names another agent
 * is a mistake, or worse.
 */
export function refuseOthersNames(
  headers: IncomingHttpHeaders,
  query: string,
  { actor }: Principal,
  filters?: ReadonlySet<string>,
): Refusal | undefined {
  if (actor === undefined) return undefined;
  const spoofed = refuseOthers(actor, {}, headers);
  if (spoofed !== undefined || query === '') return spoofed;
  for (const [name, value] of new URLSearchParams(query)) {
    const asked = filters?.has(name) === true ? undefined : refuseOthers(actor, { [name]: value }, {});
    if (asked !== undefined) return asked;
  }
  return undefined;
}

/** A key that is bound to an agent can't be used for another one, wherever the request names it. */
function refuseOthers(bound: Identity, body: JsonObject, headers: IncomingHttpHeaders): Refusal | undefined {
  for (const field of FIELDS) {
    const own = bound[field];
    if (own === undefined) continue;
    for (const said of [body[field], headers[HEADERS[field]]]) {
      if (said === undefined || said === own) continue;
      if (typeof said !== 'string') return invalid(field, 'text');
      return refuse('forbidden', `${field}: this key is bound to ${own} and can’t act as anybody else.`, {
        field,
      });
    }
  }
  return undefined;
}
