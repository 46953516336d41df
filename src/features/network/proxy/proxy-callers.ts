import type { Socket } from 'node:net';
import { limits } from '../../../kernel/limits.ts';
import type { Actor } from '../../../ledger/log.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { Authenticator, isDenial } from '../../../transports/http/authenticate.ts';
import type { EnvironmentKey } from '../../../transports/http/environment-keys.ts';
import { checkIdentity } from '../../../transports/shared/identity.ts';
import { resolveSessionToken } from '../../sessions/index.ts';

export interface Stranger {
  readonly status: 407 | 429;
  readonly error: string;
  readonly message: string;
}

export type FixedAgent = Pick<Actor, 'agent_id' | 'agent_type'>;

const CONNECTIONS_MAX = 1000;

const NOBODY: Stranger = {
  status: 407,
  error: 'unauthorized',
  message:
    'Put an API key into the address of the proxy: http://agent:KEY@host:port. `cox key create` makes one.',
};

/** Who is behind a request to the proxy: the one agent it was started for, or whose key it shows. */
export class Callers {
  readonly #coxswain: Coxswain;
  readonly #fixed: Connection | undefined;
  readonly #authenticator: Authenticator;
  readonly #known = new Map<string, Connection>();

  constructor(coxswain: Coxswain, fixed: FixedAgent | undefined, environment: readonly EnvironmentKey[]) {
    const { store, project } = coxswain;
    this.#coxswain = coxswain;
    this.#fixed = fixed && this.#connect(fixed);
    this.#authenticator = new Authenticator(coxswain, {
      environment,
      resolveSessionToken: (token) => resolveSessionToken(store, project, token),
    });
  }

  async find(header: string | undefined, socket: Socket): Promise<Connection | Stranger> {
    if (this.#fixed !== undefined) return this.#fixed;
    const shown = basic(header);
    if (shown === undefined) return NOBODY;
    const principal = await this.#authenticator.authenticate({ 'x-api-key': shown.key }, socket);
    if (isDenial(principal)) {
      const { status, error, message } = principal;
      return { status: status === 429 ? 429 : 407, error, message };
    }
    // The key of a person or operator decides about agents: it has no place in the environment of one.
    if (principal.authority === 'person') return { ...NOBODY, message: "A person's key opens no proxy." };
    // A service speaks for the agent it names; a key of one agent is that agent, whatever the name before it.
    const claimed = checkIdentity(principal.actor ?? { agent_id: shown.name || null });
    if (!claimed.ok) return { ...NOBODY, message: claimed.refusal.message };
    const { agent_id = '', agent_type = 'http', session_id } = claimed.identity;
    const key = JSON.stringify([agent_id, agent_type, session_id]);
    const known = this.#known.get(key) ?? this.#connect({ agent_id, agent_type }, session_id);
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CONNECTIONS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  /** What passes here says nothing about whether the agent is at work. */
  #connect(agent: FixedAgent, session_id?: string): Connection {
    const own = `proxy-${agent.agent_id}`.slice(0, limits.agent_id_chars_max);
    return this.#coxswain.connect({ ...agent, session_id: session_id ?? own }, 'agent', { shows: 'never' });
  }
}

/** The key is the password, or the user name where there is no password. */
function basic(header: string | undefined): { name: string; key: string } | undefined {
  const [, encoded] = /^basic +([\w+/=-]+) *$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [, name = '', password = ''] =
    /^([^:]*):?(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  const key = password === '' ? name : password;
  return key === '' ? undefined : { name: password === '' ? '' : name, key };
}
