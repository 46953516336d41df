import { limits } from '../kernel/limits.ts';
import { UNPRINTABLE } from '../kernel/printable.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Actor } from '../ledger/log.ts';
import { invalid } from './answer.ts';

/** The product's own commits are signed with it. */
const RESERVED_AGENT_ID = 'coxswain';

export function checkName(field: string, value: unknown): string | Refusal {
  const chars_max = limits.agent_id_chars_max;
  if (typeof value !== 'string') return invalid(field, 'text');
  if (value.trim() === '' || value.length > chars_max) return invalid(field, `1 to ${chars_max} characters`);
  if (UNPRINTABLE.test(value)) return invalid(field, 'printable characters only');
  if (field === 'agent_id' && value === RESERVED_AGENT_ID)
    return invalid(field, 'another name than Coxswain’s own');
  return value;
}

export type Checked = { ok: true; identity: Partial<Actor> } | { ok: false; refusal: Refusal };

/** What a caller says about itself; what it leaves out stays out, for the door to fill in. */
export function checkIdentity(claimed: { readonly [K in keyof Actor]?: unknown }): Checked {
  const identity: { -readonly [K in keyof Actor]?: string } = {};
  for (const field of ['agent_id', 'agent_type', 'session_id'] as const) {
    if (claimed[field] === undefined) continue;
    const name = checkName(field, claimed[field]);
    if (typeof name !== 'string') return { ok: false, refusal: name };
    identity[field] = name;
  }
  return { ok: true, identity };
}

/** An empty variable is the shell's way of leaving it out. */
export function environmentIdentity(env: NodeJS.ProcessEnv): { [K in keyof Actor]?: string | undefined } {
  return {
    agent_id: env.AGENT_ID || undefined,
    agent_type: env.AGENT_TYPE || undefined,
    session_id: env.SESSION_ID || undefined,
  };
}

/** What an agent can do, as its environment says: `AGENT_CAPABILITIES=typescript,review`. */
export function environmentCapabilities(env: NodeJS.ProcessEnv): string[] {
  const words = (env.AGENT_CAPABILITIES ?? '').split(',').map((word) => word.trim());
  const sound = words.filter((word) => word !== '' && word.length <= 64 && !UNPRINTABLE.test(word));
  return [...new Set(sound)].slice(0, limits.capabilities_max);
}
