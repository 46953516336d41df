import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '../../coordinator.ts';
import type { Coxswain } from '../../index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import { invalid } from '../answer.ts';
import { checkIdentity } from '../identity.ts';

const CONNECTIONS_MAX = 1000;

/** Who asks without saying so may look, not change. */
const ANONYMOUS = { agent_id: 'anonymous', agent_type: 'http', session_id: 'http-anonymous' };

/**
 * One connection per agent and session, so that a release without a token means the grant this session got. The least
 * recently used one goes when there are too many; all it loses is that memory, and a token in the request replaces it.
 */
export class Connections {
  readonly #coxswain: Coxswain;
  readonly #known = new Map<string, Connection>();
  readonly anonymous: Connection;

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
    this.anonymous = coxswain.connect(ANONYMOUS);
  }

  /** Takes the identity out of the body (there it stands beside the operation's own fields) or from the headers. */
  find(body: JsonObject, headers: IncomingHttpHeaders, must: boolean): Connection | Refusal {
    const {
      agent_id = headers['x-agent-id'],
      session_id = headers['x-session-id'],
      agent_type = headers['x-agent-type'],
    } = body;
    if (agent_id === undefined) {
      if (must) return invalid('agent_id', 'who is asking: agent_id in the body or the header X-Agent-Id');
      // Whatever else it says about itself must still be sound.
      const checked = checkIdentity({ session_id, agent_type });
      return checked.ok ? this.anonymous : checked.refusal;
    }
    // Only text can be a key, and only what was checked before is known.
    const isText =
      typeof agent_id === 'string' && (session_id === undefined || typeof session_id === 'string');
    const key = isText ? `${agent_id}\0${session_id ?? ''}` : '';
    const known = this.#known.get(key);
    if (known !== undefined && (agent_type === undefined || agent_type === known.actor.agent_type)) {
      this.#known.delete(key);
      this.#known.set(key, known);
      return known;
    }
    const checked = checkIdentity({ agent_id, session_id, agent_type });
    return checked.ok ? (known ?? this.#add(key, checked.identity)) : checked.refusal;
  }

  #add(key: string, { agent_id = '', agent_type = 'http', session_id }: Partial<Actor>): Connection {
    const standing = `http-${agent_id}`.slice(0, limits.agent_id_chars_max);
    const connection = this.#coxswain.connect({ agent_id, agent_type, session_id: session_id ?? standing });
    this.#known.set(key, connection);
    if (this.#known.size > CONNECTIONS_MAX) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return connection;
  }
}
