import type { Actor } from '../ledger/log.ts';

/** Whose session a token is for. It says so itself; only the server can tell whether it is true. */
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
