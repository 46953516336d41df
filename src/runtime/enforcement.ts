import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Decision } from '../ledger/decision.ts';
import type { Actor } from '../ledger/log.ts';
import type { Demand, DoorName } from './access.ts';
import type { AnyCommand, Authority } from './operation.ts';

/** Holds one connection's calls against its agent's profile. The trust slice implements it. */
export interface CallEnforcer {
  demand(operation: AnyCommand): Demand;
  /** Nothing stands against the call, as far as that can be said without waiting. */
  passes(operation: AnyCommand, demand: Demand): boolean;
  /** The same with a look into the store. `counts`: the call is counted in a commit of its own, which this decision makes. */
  check(
    operation: AnyCommand,
    demand: Demand,
  ): Promise<Refusal | { counts?: Decision<JsonObject> | undefined }>;
  /** The decision, together with what the profile says about it, in one commit. */
  govern<A extends JsonObject>(decision: Decision<A>, demand: Demand): Decision<A>;
  /** A store's own quick way counts nothing: a limited caller's decision is made in full. */
  mustUseFullDecision(demand: Demand): boolean | Promise<boolean>;
}

export interface Enforcement {
  enforcerOf(actor: Actor, authority: Authority, door: DoorName | undefined): CallEnforcer;
  /** The rules were changed by this process. */
  forget(): void;
}
