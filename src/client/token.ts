import type { Actor } from '../ledger/log.ts';

/** The session that a token is for. The token names it; only the server can tell whether it is genuine. */
export function tokenActor(credential: string | undefined): Partial<Actor> {
  const [, name] = /^Bearer coxs_([\w-]+)\./.exec(credential ?? '') ?? [];
  if (name === undefined) return {};
  try {
    const named: unknown = JSON.parse(Buffer.from(name, 'base64url').toString());
    const [agent_id, session_id] = Array.isArray(named) ? (named as unknown[]) : [];
    return typeof agent_id === 'string' && typeof session_id === 'string' ? { agent_id, session_id } : {};
  } catch {
    return {};
  }
}
