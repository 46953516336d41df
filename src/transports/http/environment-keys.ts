import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { secretHash } from '../../kernel/secret.ts';
import { checkIdentity } from '../shared/identity.ts';

/** A configured key, as it is kept in memory. */
export interface EnvironmentKey {
  readonly hash: string;
  /** The one agent it is for; without one the caller may name any. */
  readonly actor?: { readonly agent_id: string; readonly agent_type?: string | undefined };
}

const KEYS_MAX = 10_000;
const KEY = /^[\x21-\x7e]{1,500}$/;

type Read = { ok: true; keys: EnvironmentKey[] } | { ok: false; refusal: Refusal };

/**
 * `COORDINATION_API_KEYS` (comma separated) and `COORDINATION_API_KEY_IDENTITIES` (JSON). A key in both is
 * bound. Errors name the variable only, because its content may be a secret.
 */
export function environmentKeys(env: NodeJS.ProcessEnv): Read {
  const listed = (env.COORDINATION_API_KEYS ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  const identities = readIdentities(env.COORDINATION_API_KEY_IDENTITIES);
  if ('success' in identities) return { ok: false, refusal: identities as Refusal };
  if (!listed.every((key) => KEY.test(key)))
    return wrong(
      'COORDINATION_API_KEYS',
      'keys of printable ASCII characters without spaces, with commas between',
    );
  if (listed.length + identities.length > KEYS_MAX) return wrong('COORDINATION_API_KEYS', 'fewer keys');
  const keys = new Map<string, EnvironmentKey>();
  for (const key of listed) keys.set(key, { hash: secretHash(key) });
  for (const { key, actor } of identities) keys.set(key, { hash: secretHash(key), actor });
  return { ok: true, keys: [...keys.values()] };
}

type Bound = { key: string; actor: NonNullable<EnvironmentKey['actor']> };

function readIdentities(text: string | undefined): Bound[] | Refusal {
  const name = 'COORDINATION_API_KEY_IDENTITIES';
  const expected = 'JSON such as {"KEY":{"agent_id":"alice","agent_type":"codex"}}';
  if (text === undefined || text.trim() === '') return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message would quote the text.
    return wrong(name, expected).refusal;
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    return wrong(name, expected).refusal;
  const bound: Bound[] = [];
  for (const [key, identity] of Object.entries(parsed as Record<string, unknown>)) {
    if (!KEY.test(key) || identity === null || typeof identity !== 'object')
      return wrong(name, expected).refusal;
    const { agent_id, agent_type } = identity as Record<string, unknown>;
    const checked = checkIdentity({ agent_id: agent_id ?? null, agent_type });
    if (!checked.ok)
      return wrong(
        name,
        `a sound identity for each key; number ${bound.length + 1}: ${checked.refusal.message}`,
      ).refusal;
    bound.push({
      key,
      actor: { agent_id: checked.identity.agent_id ?? '', agent_type: checked.identity.agent_type },
    });
  }
  return bound;
}

function wrong(variable: string, expected: string): { ok: false; refusal: Refusal } {
  const field = variable;
  return {
    ok: false,
    refusal: refuse('invalid_input', `${variable}: expected ${expected}`, { field, expected }),
  };
}
