import { type Refusal, refusalCode } from '../../kernel/refusal.ts';
import { heldByOthers, inTheWay } from '../enforce/held.ts';
import type { LockPolicy } from '../enforce/policy.ts';
import { lockable } from './areas.ts';
import { type Call, NOTHING, type Order, type Verdict } from './call.ts';
import { heldText } from './held-text.ts';
import { locksOn, notHeld, take } from './locks.ts';
import type { Place } from './place.ts';
import type { Touched } from './touched.ts';
import { endangered } from './whole-tree.ts';

/** More files in one tool call than anybody locks one by one. */
const FILES_MAX = 500;

/** Before a tool runs: may it write what it would write? The files it names are the agent's own from then on. */
export async function guard(order: Order, call: Call, touched: Touched, place: Place): Promise<Verdict> {
  const { locks: policy } = order;
  const wiped = await endangered(touched.everywhere, place, call.cwd);
  if (wiped !== undefined) return objection(policy, wiped);
  const names = lockable(touched.writes, place.coxswain.workspace, call.cwd);
  if (names.length > FILES_MAX)
    return objection(
      policy,
      `It would change ${names.length} files. Lock their folder first (acquire_lock).`,
    );
  const missing = names.length === 0 ? [] : await notHeld(place, names, policy !== 'require');
  if (missing.length > 0) {
    const problem = policy === 'require' ? await unheld(place, missing) : await blocked(place, missing);
    if (problem !== undefined) return objection(policy, problem);
  }
  if (policy !== 'require' || touched.unknown.length === 0) return NOTHING;
  const unknown = touched.unknown.slice(0, 3).join('; ');
  return {
    context: `Coxswain could not tell which files this writes (${unknown}). Hold their locks (acquire_lock) before you change any.`,
  };
}

function objection(policy: LockPolicy, problem: string): Verdict {
  if (policy !== 'warn') return { deny: `Coxswain: ${problem}` };
  return { context: `Coxswain warns: ${problem}`, notice: `Coxswain: ${problem}` };
}

/** Why the agent may not have them all; a check that could not be made is thrown. */
async function blocked(place: Place, names: readonly string[]): Promise<string | undefined> {
  const refusal = await take(place, names);
  if (refusal === undefined) return undefined;
  if (refusalCode(refusal) === 'blocked') return heldText(inTheWay(refusal), place.coxswain.clock.now_ms());
  if (REFUSED.has(refusalCode(refusal))) return `${refusal.message} ${refusal.remedy}`;
  throw new Unchecked(refusal);
}

const REFUSED = new Set(['not_owner', 'would_deadlock', 'too_large']);

/** The lock check itself has failed: what that means is the policy's to say. */
class Unchecked extends Error {
  constructor({ message }: Refusal) {
    super(message);
    this.name = 'Unchecked';
  }
}

/** Under `require` nothing is locked for the agent: it has to ask first. */
async function unheld(place: Place, names: readonly string[]): Promise<string> {
  const held = heldByOthers({ locks: await locksOn(place, names) }, place.actor.agent_id);
  if (held.length > 0) return heldText(held, place.coxswain.clock.now_ms());
  const files = names.slice(0, 5).join(', ');
  return `you do not hold ${files}${names.length > 5 ? ` and ${names.length - 5} more` : ''}. Lock it first (acquire_lock of the MCP server coxswain), then try again.`;
}
