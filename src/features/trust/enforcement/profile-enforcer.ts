import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Decision, Loaded } from '../../../ledger/decision.ts';
import type { Actor } from '../../../ledger/log.ts';
import type { Demand, DoorName, TrustLevel } from '../../../runtime/access.ts';
import type { CallEnforcer, Enforcement } from '../../../runtime/enforcement.ts';
import type { AnyCommand, Authority } from '../../../runtime/operation.ts';
import { countCall } from '../calls.ts';
import { governedBy, isLimited } from '../governed.ts';
import { type PermitQuestion, permit } from '../permit.ts';
import type { Standing } from '../profile.ts';
import { type RulebookState, rulebookKey } from '../rulebook.ts';
import type { RulebookReader, RulesAge } from '../rules/rulebook-reader.ts';

/** A person's own command on this machine, which names no agent. It may read everything. */
const LOCAL_COMMAND = 'cli';

function ageFor({ proven }: AnyCommand): RulesAge {
  return proven === true ? 'known' : 'recent';
}

/** Whether the call is counted in a separate commit. */
function countsCalls({ winds_down }: AnyCommand, { profile }: Standing): boolean {
  return profile.resource_limits.max_api_calls_per_hour !== undefined && winds_down !== true;
}

/**
 * Checks one connection's calls against its agent's profile: before they are made, and inside their commits.
 */
export class ProfileEnforcer implements CallEnforcer {
  readonly #rules: RulebookReader;
  readonly #actor: Actor;
  readonly #authority: Authority;
  readonly #door: DoorName | undefined;
  readonly #default_trust: TrustLevel | undefined;

  constructor(rules: RulebookReader, actor: Actor, authority: Authority, door: DoorName | undefined) {
    this.#rules = rules;
    this.#actor = actor;
    this.#authority = authority;
    this.#door = door;
    this.#default_trust = rules.changedTrust(door);
  }

  standing(age: RulesAge = 'now'): Promise<Standing> {
    return this.#rules.standing(this.#actor, this.#door, age);
  }

  standingIn(loaded: Loaded): Standing {
    return this.#rules.standingBy(loaded.get<RulebookState>(rulebookKey), this.#actor, this.#door);
  }

  demand({ name, group, permission, trust, winds_down }: AnyCommand): Demand {
    return {
      actor: this.#actor,
      operation: name,
      group,
      permission,
      trust,
      door: this.#door,
      default_trust: this.#default_trust,
      winds_down,
    };
  }

  /** Like `check`, as far as it can answer without waiting. True: nothing forbids the call. */
  passes(operation: AnyCommand, demand: Demand): boolean {
    const known = this.#rules.known(this.#actor, this.#door, ageFor(operation));
    if (known === undefined || countsCalls(operation, known)) return false;
    return this.#onlyLooks(operation) || permit(known, demand, this.#rules.engine) === undefined;
  }

  /**
   * Runs before anything is done. What it permits may rest on rules a second old, or older where the
   * operation's own commit proves them; outdated rules never refuse a call.
   */
  async check(
    operation: AnyCommand,
    demand: Demand,
  ): Promise<Refusal | { counts?: Decision<JsonObject> | undefined }> {
    const standing = await this.#standingFor(operation, demand);
    if ('success' in standing) return standing;
    if (!countsCalls(operation, standing)) return {};
    return { counts: countCall(this.#actor, demand.default_trust) };
  }

  async #standingFor(operation: AnyCommand, demand: Demand): Promise<Standing | Refusal> {
    const standing = await this.standing(ageFor(operation));
    if (this.#onlyLooks(operation)) return standing;
    if (permit(standing, demand, this.#rules.engine) === undefined) return standing;
    const now = await this.standing('now');
    return permit(now, demand, this.#rules.engine) ?? now;
  }

  #onlyLooks({ mutates }: AnyCommand): boolean {
    return !mutates && this.#authority === 'operator' && this.#actor.agent_type === LOCAL_COMMAND;
  }

  judge(standing: Standing, question: Omit<PermitQuestion, 'door'>): Refusal | undefined {
    return permit(standing, { ...question, door: this.#door }, this.#rules.engine);
  }

  govern<A extends JsonObject>(decision: Decision<A>, demand: Demand): Decision<A> {
    const { needs, command, decide } = governedBy(decision, demand, this.#rules.engine);
    return {
      needs,
      command,
      decide: (loaded, now_ms) => {
        this.#rules.saw(loaded.get(rulebookKey));
        return decide(loaded, now_ms);
      },
    };
  }

  /** A store's own fast path counts nothing: a caller with a limit takes the full path. */
  mustUseFullDecision(demand: Demand): boolean | Promise<boolean> {
    const known = this.#rules.known(this.#actor, this.#door, 'recent');
    if (known !== undefined) return isLimited(known, demand);
    return this.standing('recent').then((standing) => isLimited(standing, demand));
  }
}

/** What profiles contribute to every call on one store. */
export function profileEnforcement(rules: RulebookReader): Enforcement {
  return {
    enforcerOf: (actor, authority, door) => new ProfileEnforcer(rules, actor, authority, door),
    forget: () => rules.forget(),
  };
}

/** Undefined: no profile applies to the connection. */
export function profileEnforcerOf({
  enforcer,
}: {
  readonly enforcer: CallEnforcer | undefined;
}): ProfileEnforcer | undefined {
  return enforcer instanceof ProfileEnforcer ? enforcer : undefined;
}
