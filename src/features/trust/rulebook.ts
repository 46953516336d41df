import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { BUILTIN, DEFAULT_PROFILE, DEFAULT_TRUST, fallbackFor, isOtherName, oneType } from './builtin.ts';
import type { Profile, Standing } from './profile.ts';

/** The subject of an assignment: one agent, or every agent of a type. */
export type ProfileAssignment =
  | { readonly agent_id: string; readonly agent_type?: undefined; readonly profile: string }
  | { readonly agent_type: string; readonly agent_id?: undefined; readonly profile: string };

/** Less trust than the profile gives, until a person restores it. */
export interface Lowered {
  readonly agent_id: string;
  readonly to: TrustLevel;
  readonly reason: string;
  readonly at_ms: number;
}

export interface ProfileNetworkPolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly default?: 'allow' | 'deny' | undefined;
}

/** Holds only what is set; everything else has its default where it is used. */
export interface RulebookSettings {
  /** For agents whose type has no profile; the rulebook overrides `PROFILES_DEFAULT_TRUST`. */
  readonly default_trust?: TrustLevel | undefined;
  /** Blocked violations after which an agent's trust is lowered by one; 0: never. */
  readonly lower_trust_after?: number | undefined;
  /** How long a request waits for a person. */
  readonly approval_hours?: number | undefined;
}

/**
 * All rules that people have made, in one record. Every commit of an agent expects it unchanged, so that no
 * rule changes between the permission and the act. No record: the shipped rules.
 */
export interface RulebookState {
  /** Made or edited here; a profile with the name of a shipped one replaces it. */
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly assignments: readonly ProfileAssignment[];
  readonly lowered: readonly Lowered[];
  readonly network_policies: Readonly<Record<string, ProfileNetworkPolicy>>;
  readonly settings: RulebookSettings;
}

const RULEBOOK = 'rulebook';

export const rulebookKey: EntityKey = { kind: RULEBOOK, id: 'all' };

export const EMPTY_RULEBOOK: RulebookState = {
  profiles: {},
  assignments: [],
  lowered: [],
  network_policies: {},
  settings: {},
};

export function rulebookEvent(type: string, data: JsonObject): EventBody {
  return { ...rulebookKey, type, data };
}

/** For the code that counts violations, in the commit that counts one too many. */
export function trustLowered(agent_id: string, to: TrustLevel, reason: string): EventBody {
  return rulebookEvent('trust_lowered', { agent_id, to, reason });
}

export const rulebookEntity: EntityType<RulebookState> = {
  kind: RULEBOOK,
  steady: true,
  everyones: true,
  evolve,
  index: () => ({}),
};

function evolve(before: RulebookState | undefined, event: EventBody, at_ms: number): RulebookState {
  const state = before ?? EMPTY_RULEBOOK;
  // The log says who did it.
  const { by: _, ...data } = event.data;
  const ofOthers = (each: { agent_id?: string | undefined }) => each.agent_id !== data.agent_id;
  switch (event.type) {
    case 'profile_set': {
      const profile = data.profile as unknown as Profile;
      return { ...state, profiles: { ...state.profiles, [profile.name]: profile } };
    }
    case 'profile_removed':
      return { ...state, profiles: without(state.profiles, data.name as string) };
    case 'profile_assigned': {
      const assignment = data as unknown as ProfileAssignment;
      return { ...state, assignments: [...state.assignments.filter(ofAnother(assignment)), assignment] };
    }
    case 'profile_unassigned':
      return {
        ...state,
        assignments: state.assignments.filter(
          ofAnother(data as unknown as Omit<ProfileAssignment, 'profile'>),
        ),
      };
    case 'trust_lowered': {
      const { agent_id, to, reason } = data as unknown as Lowered;
      const lowered = [...state.lowered.filter(ofOthers), { agent_id, to, reason, at_ms }];
      // The oldest entry is dropped: an agent that can appear under so many names was not restrained by its
      // own.
      return { ...state, lowered: lowered.slice(-limits.lowered_agents_max) };
    }
    case 'trust_restored':
      return { ...state, lowered: state.lowered.filter(ofOthers) };
    case 'network_policy_set': {
      const { name, ...policy } = data as unknown as ProfileNetworkPolicy & { name: string };
      return { ...state, network_policies: { ...state.network_policies, [name]: policy } };
    }
    case 'network_policy_removed':
      return { ...state, network_policies: without(state.network_policies, data.name as string) };
    case 'rulebook_settings_set':
      return { ...state, settings: { ...state.settings, ...(data as RulebookSettings) } };
    default:
      throw new Error(`unknown event of the rulebook: ${event.type}`);
  }
}

type Whose = { readonly agent_id?: string | undefined; readonly agent_type?: string | undefined };

function ofAnother(one: Whose) {
  return (each: Whose) => each.agent_id !== one.agent_id || each.agent_type !== one.agent_type;
}

function without<T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([each]) => each !== name));
}

const BUILTIN_BY_NAME: ReadonlyMap<string, Profile> = new Map(BUILTIN.map((each) => [each.name, each]));

export function isBuiltin(name: string): boolean {
  return BUILTIN_BY_NAME.has(name);
}

export function profileNamed(state: RulebookState | undefined, name: string): Profile | undefined {
  if (state !== undefined && Object.hasOwn(state.profiles, name)) return state.profiles[name];
  return BUILTIN_BY_NAME.get(name);
}

/** Every profile: shipped ones in their order, as edited, then those made here. */
export function everyProfile(state: RulebookState | undefined): Profile[] {
  const made = Object.values(state?.profiles ?? {}).filter(({ name }) => !isBuiltin(name));
  return [...BUILTIN.map((each) => profileNamed(state, each.name) ?? each), ...made];
}

/** Cached while the rulebook is the same object: the store returns the same one until it is changed. */
const remembered = new WeakMap<object, Map<string, Standing>>();
const STANDINGS_MAX = 1000;

type Agent = Readonly<Pick<Actor, 'agent_id' | 'agent_type'>>;

/** Each call asks several times about the same connection. */
let last: { rules: object; actor: Agent; default_trust: TrustLevel; standing: Standing } | undefined;

/**
 * The profile of an agent and why it is this one: assigned to the agent, assigned to its type, shipped for
 * its type, or the default.
 */
export function standingOf(
  state: RulebookState | undefined,
  actor: Agent,
  default_trust: TrustLevel = DEFAULT_TRUST,
): Standing {
  const rules = state ?? EMPTY_RULEBOOK;
  if (last?.rules === rules && last.actor === actor && last.default_trust === default_trust)
    return last.standing;
  const standing = rememberedStanding(rules, actor, default_trust);
  last = { rules, actor, default_trust, standing };
  return standing;
}

function rememberedStanding(rules: RulebookState, actor: Agent, default_trust: TrustLevel): Standing {
  const key = `${actor.agent_id}\n${actor.agent_type}\n${default_trust}`;
  let known = remembered.get(rules);
  if (known === undefined) {
    known = new Map();
    remembered.set(rules, known);
  }
  let standing = known.get(key);
  if (standing === undefined) {
    standing = resolve(rules, actor, default_trust);
    if (known.size >= STANDINGS_MAX) known.clear();
    known.set(key, standing);
  }
  return standing;
}

function resolve(
  rules: RulebookState,
  { agent_id, agent_type }: Pick<Actor, 'agent_id' | 'agent_type'>,
  default_trust: TrustLevel,
): Standing {
  const type = oneType(agent_type);
  const own = rules.assignments.find((each) => each.agent_id === agent_id);
  const ofType = rules.assignments.find(
    (each) => each.agent_type !== undefined && oneType(each.agent_type) === type,
  );
  const assigned = own ?? ofType;
  const lowered = rules.lowered.find((each) => each.agent_id === agent_id);
  // An assignment to a removed profile must not give more than the default does.
  const named = assigned === undefined ? undefined : profileNamed(rules, assigned.profile);
  const shipped = assigned === undefined ? forType(rules, type) : undefined;
  const isFree =
    shipped !== undefined && !Object.hasOwn(rules.profiles, shipped.name) && isOtherName(agent_type);
  const found = named ?? shipped;
  const profile = isFree
    ? { ...shipped, connection: undefined }
    : (found ?? fallback(rules, type, default_trust));
  const source =
    named !== undefined && own !== undefined ? 'agent' : found === undefined ? 'default' : 'agent_type';
  // An agent's claim about its own type proves nothing: the highest level has to be assigned.
  const given = named === undefined ? Math.min(profile.trust_level, 3) : profile.trust_level;
  const trust_level = Math.min(given, lowered?.to ?? given) as TrustLevel;
  return { profile, source, trust_level };
}

/** If two profiles fit one type, the one with less trust: more is assigned, not assumed. */
function forType(rules: RulebookState, type: string): Profile | undefined {
  const candidates = everyProfile(rules).filter(({ agent_types }) =>
    agent_types.some((each) => oneType(each) === type),
  );
  return candidates.reduce<Profile | undefined>(
    (least, each) => (least === undefined || each.trust_level < least.trust_level ? each : least),
    undefined,
  );
}

function fallback(rules: RulebookState, type: string, default_trust: TrustLevel): Profile {
  const name = fallbackFor(type);
  const profile = profileNamed(rules, name);
  if (profile === undefined) throw new Error(`there is no profile ${name}`);
  // An edited default profile already says what it should be.
  if (name !== DEFAULT_PROFILE || Object.hasOwn(rules.profiles, name)) return profile;
  return { ...profile, trust_level: rules.settings.default_trust ?? default_trust };
}
