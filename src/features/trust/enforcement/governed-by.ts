import type { JsonObject } from '../../../kernel/json.ts';
import { command, type Decision } from '../../../ledger/decision.ts';
import type { Demand } from '../../../runtime/access.ts';
import { countCall as decideCountCall } from '../calls.ts';
import { governed } from '../governed.ts';
import { nativeEngine, type PolicyEngine } from '../permit.ts';

export const countCall = command('count_call', decideCountCall);

export const GOVERNED = 'governed';

/**
 * The decision, made only if the profile permits the caller to ask for it. With a custom policy engine, no
 * other process can make the decision.
 */
export function governedBy<A extends JsonObject>(
  decision: Decision<A>,
  demand: Demand,
  engine: PolicyEngine,
): Decision<A> {
  const { command: inner } = decision;
  const outer = governed(decision, demand, engine);
  if (inner === undefined || engine !== nativeEngine) return outer;
  return { ...outer, command: { name: GOVERNED, args: [demand, inner] } };
}
