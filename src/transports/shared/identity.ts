import { limits } from '../../kernel/limits.ts';
import { nameProblem, reservedProblem } from '../../kernel/names.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Actor } from '../../ledger/log.ts';
import { invalid } from '../../runtime/answer.ts';

export function checkName(field: string, value: unknown): string | Refusal {
  const problem = nameProblem(value) ?? reservedProblem(field, value as string);
  return problem === undefined ? (value as string) : invalid(field, problem);
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
  const sound = words.filter((word) => nameProblem(word) === undefined && word.length <= 64);
  return [...new Set(sound)].slice(0, limits.capabilities_max);
}

/** The role an agent claims edges in, as its environment says; what is no name is none. */
export function environmentRole(env: NodeJS.ProcessEnv): string | undefined {
  const role = env.AGENT_ROLE?.trim() ?? '';
  const isSound = nameProblem(role) === undefined && role.length <= limits.agent_role_chars_max;
  return isSound ? role : undefined;
}
