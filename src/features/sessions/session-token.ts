import { sameSecretHash, secretHash } from '../../kernel/secret.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Store } from '../../ledger/store-port.ts';
import { type SessionState, sessionKey } from './state.ts';

const PREFIX = 'coxs_';

/** What `register_session` returns: it names its session and proves it. */
export function sessionToken({ agent_id, session_id }: Omit<Actor, 'agent_type'>, secret: string): string {
  const name = Buffer.from(JSON.stringify([agent_id, session_id])).toString('base64url');
  return `${PREFIX}${name}.${secret}`;
}

/**
 * The session a token belongs to, if it is valid: of a session that has not ended, from its last
 * registration.
 */
export async function resolveSessionToken(
  store: Store,
  project: string,
  token: string,
): Promise<Actor | undefined> {
  const [name = '', secret = ''] = token.slice(PREFIX.length).split('.');
  if (!token.startsWith(PREFIX) || token.length > 2000) return undefined;
  let named: unknown;
  try {
    named = JSON.parse(Buffer.from(name, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(named)) return undefined;
  const [agent_id, session_id] = named as unknown[];
  if (typeof agent_id !== 'string' || typeof session_id !== 'string') return undefined;
  const key = sessionKey({ agent_id, session_id });
  const { loaded } = await store.find(project, { keys: [key] });
  const state = loaded.get<SessionState>(key)?.state;
  if (state?.token_hash === undefined || state.ended_at_ms !== undefined) return undefined;
  if (!sameSecretHash(state.token_hash, secretHash(secret))) return undefined;
  return { agent_id, agent_type: state.agent_type, session_id };
}
