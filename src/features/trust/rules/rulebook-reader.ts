import type { Clock } from '../../../kernel/clock.ts';
import { unusableSetting } from '../../../kernel/refusal.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import type { Actor } from '../../../ledger/log.ts';
import type { Store } from '../../../ledger/store-port.ts';
import type { DoorName, TrustLevel } from '../../../runtime/access.ts';
import type { Step } from '../../../runtime/operation.ts';
import { defineService } from '../../../runtime/service.ts';
import { DEFAULT_TRUST } from '../builtin.ts';
import { nativeEngine, type PolicyEngine } from '../permit.ts';
import type { Standing } from '../profile.ts';
import { type RulebookState, rulebookKey, standingOf } from '../rulebook.ts';

/** No call is permitted by rules older than this; commits prove that theirs are current. */
const RECENT_MS = 1000;

/** `known`: the rules last seen, for callers that prove them in a commit. */
export type RulesAge = 'now' | 'recent' | 'known';

/** The rules as they are now, for operations that explain them. */
export interface StepRules {
  readonly engine: PolicyEngine;
  /**
   * The default trust of agents without a profile, where it differs from the shipped one: every decision that
   * depends on trust receives it.
   */
  readonly default_trust: TrustLevel | undefined;
  rulebook(): Promise<RulebookState | undefined>;
  standing(): Promise<Standing>;
}

export interface RulesOptions {
  readonly engine?: PolicyEngine | undefined;
  readonly default_trust?: TrustLevel | undefined;
}

/**
 * The rulebook of one project for readers that don't commit; shared by all connections of an opened store.
 */
export class RulebookReader {
  readonly engine: PolicyEngine;
  readonly #default_trust: TrustLevel;
  readonly #store: Store;
  readonly #project: string;
  readonly #clock: Clock;
  #read_ms = Number.NEGATIVE_INFINITY;
  #record: EntityRecord<RulebookState> | undefined;

  constructor(store: Store, project: string, clock: Clock, options: RulesOptions = {}) {
    this.#store = store;
    this.#project = project;
    this.#clock = clock;
    this.engine = options.engine ?? nativeEngine;
    this.#default_trust = options.default_trust ?? DEFAULT_TRUST;
  }

  /** Undefined: the shipped rules are unchanged. */
  async rulebook(age: RulesAge = 'recent'): Promise<RulebookState | undefined> {
    if (this.#isKnown(age)) return this.#record?.state;
    const asked_ms = this.#clock.elapsed_ms();
    const { loaded } = await this.#store.find(this.#project, { keys: [rulebookKey] });
    this.#record = loaded.get<RulebookState>(rulebookKey);
    this.#read_ms = asked_ms;
    return this.#record?.state;
  }

  #isKnown(age: RulesAge): boolean {
    const enough_ms = age === 'now' ? 0 : age === 'recent' ? RECENT_MS : Number.MAX_VALUE;
    return this.#clock.elapsed_ms() - this.#read_ms < enough_ms;
  }

  /** A decision was made by these rules. They may be older than the ones already known. */
  saw(record: EntityRecord<RulebookState> | undefined): void {
    if ((record?.version ?? 0) > (this.#record?.version ?? 0)) this.#record = record;
  }

  /** The rules were just changed in this process. */
  forget(): void {
    this.#read_ms = Number.NEGATIVE_INFINITY;
  }

  async standing(actor: Actor, door: DoorName | undefined, age?: RulesAge): Promise<Standing> {
    return standingOf(await this.rulebook(age), actor, this.defaultTrust(door));
  }

  /** By rules read at this moment: the next caller need not read them again. */
  standingBy(
    record: EntityRecord<RulebookState> | undefined,
    actor: Actor,
    door: DoorName | undefined,
  ): Standing {
    this.#record = record;
    this.#read_ms = this.#clock.elapsed_ms();
    return standingOf(record?.state, actor, this.defaultTrust(door));
  }

  /** The same without waiting; undefined: the store has to be read. */
  known(actor: Actor, door: DoorName | undefined, age: RulesAge): Standing | undefined {
    return this.#isKnown(age) ? standingOf(this.#record?.state, actor, this.defaultTrust(door)) : undefined;
  }

  /**
   * On a server, `PROFILES_DEFAULT_TRUST` of its operator holds as it is. On a local machine the agent can
   * set the environment itself: there the variable can only lower trust.
   */
  defaultTrust(door: DoorName | undefined): TrustLevel {
    const isServer = door === 'http' || door === 'mcp_http';
    return isServer ? this.#default_trust : localTrust(this.#default_trust);
  }

  /** The same for a decision, which only receives what differs from the shipped value. */
  changedTrust(door: DoorName | undefined): TrustLevel | undefined {
    const trust = this.defaultTrust(door);
    return trust === DEFAULT_TRUST ? undefined : trust;
  }
}

export function localTrust(trust: TrustLevel = DEFAULT_TRUST): TrustLevel {
  return Math.min(trust, DEFAULT_TRUST) as TrustLevel;
}

export const rulesService = defineService<RulebookReader | undefined>('rules', () => undefined);

/** The parts of a step that its rules need. */
type Asking = Pick<Step, 'caller' | 'door' | 'use'>;

/** The rules as they are now for the caller; the shipped ones if there are none. */
export function rulesFor(step: Asking): StepRules {
  const { caller, door } = step;
  const rules = step.use(rulesService);
  return {
    engine: rules?.engine ?? nativeEngine,
    default_trust: rules?.changedTrust(door),
    rulebook: async () => await rules?.rulebook('now'),
    standing: async () => (await rules?.standing(caller, door, 'now')) ?? standingOf(undefined, caller),
  };
}

export async function rulesOptions(env: NodeJS.ProcessEnv): Promise<RulesOptions> {
  return { engine: await engineNamed(env.POLICY_ENGINE || 'native'), default_trust: defaultTrust(env) };
}

async function engineNamed(name: string): Promise<PolicyEngine> {
  if (name === 'native') return nativeEngine;
  if (name !== 'cedar')
    throw unusableSetting('POLICY_ENGINE', `native or cedar, not ${JSON.stringify(name)}`);
  const { createCedarEngine } = await import('../cedar/cedar-engine.ts');
  return await createCedarEngine();
}

function defaultTrust(env: NodeJS.ProcessEnv): TrustLevel | undefined {
  const text = env.PROFILES_DEFAULT_TRUST;
  if (text === undefined || text === '') return undefined;
  // The highest level is assigned by name, never by default.
  if (!/^[0-3]$/.test(text))
    throw unusableSetting('PROFILES_DEFAULT_TRUST', `0, 1, 2 or 3, not ${JSON.stringify(text)}`);
  return Number(text) as TrustLevel;
}
