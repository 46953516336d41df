import { limits } from '../../kernel/limits.ts';
import { reservedProblem } from '../../kernel/names.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import { invalid } from '../../runtime/answer.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { Authority } from '../../runtime/operation.ts';

/** The caller of a request, as the HTTP server has established it. */
export interface Principal {
  /**
   * Bound to the key, or what the holder of an unbound key states in X-Agent-Id, X-Agent-Type and
   * X-Session-Id.
   */
  readonly actor: Partial<Actor>;
  readonly authority: Authority;
  /** Stable for a key and different for every key, but not the key itself. */
  readonly credential: string;
}

/** A caller without an identity may read, not change. */
const ANONYMOUS = { agent_id: 'anonymous', agent_type: 'mcp', session_id: 'mcp-anonymous' };

const WHO =
  'who is asking: the header X-Agent-Id, or a key that is bound to an agent. Revision 2026-07-28 has no sessions, so without a name your next request could not be told from another client’s';

/**
 * Clients without a session are told apart by credential and name: what one request was granted, the same
 * client's next request can give back. What two clients may share by accident, such as their product or their
 * address, does not make them one agent.
 */
export class Callers {
  readonly #coxswain: Coxswain;
  readonly #known = new Map<string, Connection>();

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
  }

  find(principal: Principal, clientName: string | undefined, mutates: boolean): Connection | Refusal {
    const { actor, authority, credential } = principal;
    if (actor.agent_id === undefined && mutates) return invalid('agent_id', WHO);
    const agent_type = actor.agent_type ?? typeOf(clientName);
    const named =
      actor.agent_id === undefined
        ? ANONYMOUS
        : { agent_id: actor.agent_id, agent_type, session_id: actor.session_id ?? standing(actor.agent_id) };
    const key = JSON.stringify([credential, authority, named.agent_id, named.agent_type, named.session_id]);
    const shows = actor.agent_id === undefined ? 'never' : 'always';
    const connection =
      this.#known.get(key) ?? this.#coxswain.connect(named, authority, { shows, door: 'mcp_http' });
    // If there are too many, the least recently used one is dropped. All it loses is which grants it had, and
    // a token names one.
    this.#known.delete(key);
    this.#known.set(key, connection);
    const [oldest] = this.#known.keys();
    if (this.#known.size > limits.mcp_callers_max && oldest !== undefined) this.#known.delete(oldest);
    return connection;
  }
}

function standing(agent_id: string): string {
  return `mcp-${agent_id}`.slice(0, limits.agent_id_chars_max);
}

/** A client names itself after its product; we use that as the agent type. */
export function typeOf(clientName: string | undefined): string {
  const name = clientName
    ?.replaceAll(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim()
    .slice(0, limits.agent_id_chars_max);
  // It may call itself anything except a reserved name.
  return name && reservedProblem('agent_type', name) === undefined ? name : 'mcp';
}
