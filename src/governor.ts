import { governedBy } from './domain/commands.ts';
import { DEFAULT_TRUST } from './domain/trust/builtin.ts';
import type { Demand, DoorName } from './domain/trust/demand.ts';
import { permit, type Question } from './domain/trust/permit.ts';
import type { Standing, TrustLevel } from './domain/trust/profile.ts';
import { rulebookKey } from './domain/trust/rulebook.ts';
import { isLimited } from './domain/trust/usage.ts';
import type { JsonObject } from './kernel/json.ts';
import type { Refusal } from './kernel/refusal.ts';
import type { Decision } from './ledger/decision.ts';
import type { Actor } from './ledger/log.ts';
import type { AnyOperation, Authority } from './operation.ts';
import type { Rules, RulesAge } from './rules.ts';

/** A person's own command on this machine, which says nothing about an agent. It may look at everything. */
const LOCAL_COMMAND = 'cli';

/** Holds one connection's calls against its agent's profile: before they are made, and inside their commits. */
export class Governor {
  readonly #rules: Rules;
  readonly #actor: Actor;
  readonly #authority: Authority;
  readonly #door: DoorName | undefined;
  readonly #default_trust: TrustLevel | undefined;

  constructor(rules: Rules, actor: Actor, authority: Authority, door: DoorName | undefined) {
    this.#rules = rules;
    this.#actor = actor;
    this.#authority = authority;
    this.#door = door;
    const trust = rules.defaultTrust(door);
    this.#default_trust = trust === DEFAULT_TRUST ? undefined : trust;
  }

  standing(age: RulesAge = 'now'): Promise<Standing> {
    return this.#rules.standing(this.#actor, this.#door, age);
  }

  demand({ name, group, permission, trust, winds_down }: AnyOperation): Demand {
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

  /**
   * Before anything is done. What it permits may be a second out of date, or more where the operation's own commit proves it;
   * nobody is refused by what is. Answers the standing it went by.
   */
  async check(operation: AnyOperation, demand: Demand): Promise<Standing | Refusal> {
    const standing = await this.standing(operation.proven === true ? 'known' : 'recent');
    const isLook = !operation.mutates && this.#authority === 'operator';
    if (isLook && this.#actor.agent_type === LOCAL_COMMAND) return standing;
    if (permit(standing, demand, this.#rules.engine) === undefined) return standing;
    const now = await this.standing('now');
    return permit(now, demand, this.#rules.engine) ?? now;
  }

  /** By the rules as they are now. */
  async judge(question: Omit<Question, 'door'>): Promise<Refusal | undefined> {
    return permit(await this.standing(), { ...question, door: this.#door }, this.#rules.engine);
  }

  govern<A extends JsonObject>(decision: Decision<A>, demand: Demand): Decision<A> {
    const governed = governedBy(decision, demand, this.#rules.engine);
    return {
      ...governed,
      decide: (loaded, now_ms) => {
        this.#rules.saw(loaded.get(rulebookKey));
        return governed.decide(loaded, now_ms);
      },
    };
  }

  /** A store's own quick way counts nothing: whoever has a limit goes the long one. */
  async goesTheLongWay(demand: Demand): Promise<boolean> {
    return isLimited(await this.standing('recent'), demand);
  }
}
