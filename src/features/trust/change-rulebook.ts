import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { DEFAULT_PROFILE } from './builtin.ts';
import type { Profile } from './profile.ts';
import {
  EMPTY_RULEBOOK,
  isBuiltin,
  type ProfileAssignment,
  profileNamed,
  type RulebookSettings,
  type RulebookState,
  rulebookEntity,
  rulebookEvent,
  rulebookKey,
} from './rulebook.ts';

/**
 * Who changes the rules. What only a person may grant is refused to every other caller, in the commit itself.
 */
export interface Editor {
  readonly agent_id: string;
  readonly person: boolean;
}

type Whose = Omit<ProfileAssignment, 'profile'>;

/**
 * One step: events, an answer, or a refusal. Steps run one after another, and each sees the results of those
 * before it.
 */
type Step = (state: RulebookState) => { events: EventBody[]; answer: JsonObject } | Refusal;

function changing(step: Step): Decision<JsonObject> {
  return {
    needs: { keys: [rulebookKey] },
    decide(loaded) {
      const result = step(loaded.get<RulebookState>(rulebookKey)?.state ?? EMPTY_RULEBOOK);
      if ('success' in result) return refused(result as Refusal);
      const { events, answer } = result as Exclude<ReturnType<Step>, Refusal>;
      return commit(events, { success: true, ...answer });
    },
  };
}

/** Level 4 can change the rules for all agents, so no agent may grant it. */
function refuseGrant(by: Editor, profile: Profile): Refusal | undefined {
  if (by.person || profile.trust_level < 4) return undefined;
  const message = `The profile ${profile.name} has trust level 4, which only a person gives.`;
  return refuse('insufficient_trust_level', message, { required_authority: 'person', profile: profile.name });
}

/** The profile as it should be from now on: the given fields, and the rest as before or as in the default. */
export type ProfileEdit = Partial<Omit<Profile, 'name' | 'connection'>> & {
  readonly name: string;
  readonly connection?: Profile['connection'] | 'any';
};

function edited(state: RulebookState | undefined, { name, ...given }: ProfileEdit): Profile {
  const base = profileNamed(state, name) ?? { ...defaultProfile(state), agent_types: [] };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { connection, ...profile } = { ...base, ...fields, name } as Omit<Profile, 'connection'> &
    ProfileEdit;
  return connection === undefined || connection === 'any' ? profile : { ...profile, connection };
}

function defaultProfile(state: RulebookState | undefined): Profile {
  const profile = profileNamed(state, DEFAULT_PROFILE);
  if (profile === undefined) throw new Error('there is no default profile');
  return profile;
}

/** `whole`: fields that are not given are as shipped, not as before. */
const setting =
  (edit: ProfileEdit, by: Editor, whole = false): Step =>
  (state) => {
    const isNew = !Object.hasOwn(state.profiles, edit.name);
    if (isNew && Object.keys(state.profiles).length >= limits.profiles_max)
      return refuse('too_large', `There are ${limits.profiles_max} profiles of your own already.`);
    const profile = edited(whole ? undefined : state, edit);
    const before = profileNamed(state, edit.name);
    // Nor may an agent change a profile that has level 4.
    const grant = refuseGrant(by, profile) ?? (before === undefined ? undefined : refuseGrant(by, before));
    if (grant !== undefined) return grant;
    const data = { profile: profile as unknown as JsonObject, by: by.agent_id };
    return { events: [rulebookEvent('profile_set', data)], answer: { profile: data.profile } };
  };

const assigning =
  (assignment: ProfileAssignment, by: Editor): Step =>
  (state) => {
    const profile = profileNamed(state, assignment.profile);
    if (profile === undefined) return unknownProfile(assignment.profile);
    const grant = refuseGrant(by, profile);
    if (grant !== undefined) return grant;
    const isNew = !state.assignments.some((each) => isSame(each, assignment));
    if (isNew && state.assignments.length >= limits.assignments_max)
      return refuse('too_large', `There are ${limits.assignments_max} assignments already.`);
    const data = { ...assignment, by: by.agent_id };
    return { events: [rulebookEvent('profile_assigned', data)], answer: { ...assignment } };
  };

function isSame(a: Whose, b: Whose): boolean {
  return a.agent_id === b.agent_id && a.agent_type === b.agent_type;
}

function unknownProfile(name: string): Refusal {
  return refuse('unknown_profile', `There is no profile ${JSON.stringify(name)}.`, { profile: name });
}

export function setProfile(edit: ProfileEdit, by: Editor): Decision<JsonObject> {
  return changing(setting(edit, by));
}

/** A profile made here is removed; a shipped one only loses its changes. */
export function removeProfile(name: string, by: Editor): Decision<JsonObject> {
  return changing((state) => {
    if (!Object.hasOwn(state.profiles, name)) {
      if (isBuiltin(name)) return { events: [], answer: { profile: name, restored: false } };
      return unknownProfile(name);
    }
    const user = state.assignments.find(({ profile }) => profile === name);
    if (user !== undefined && !isBuiltin(name)) {
      const whom = user.agent_id ?? user.agent_type;
      return refuse('wrong_status', `The profile ${name} is assigned to ${whom}; unassign it first.`, {
        profile: name,
      });
    }
    const grant = [state.profiles[name], isBuiltin(name) ? profileNamed(undefined, name) : undefined]
      .map((each) => (each === undefined ? undefined : refuseGrant(by, each)))
      .find((each) => each !== undefined);
    if (grant !== undefined) return grant;
    const events = [rulebookEvent('profile_removed', { name, by: by.agent_id })];
    return { events, answer: { profile: name, restored: isBuiltin(name) } };
  });
}

export function assignProfile(assignment: ProfileAssignment, by: Editor): Decision<JsonObject> {
  return changing(assigning(assignment, by));
}

export function unassignProfile(whose: Whose, by: Editor): Decision<JsonObject> {
  return changing((state) => {
    const found = state.assignments.find((each) => isSame(each, whose));
    if (found === undefined)
      return refuse('not_held', 'No profile is assigned there; nothing was changed.', { ...whose });
    const profile = profileNamed(state, found.profile);
    const grant = profile === undefined ? undefined : refuseGrant(by, profile);
    if (grant !== undefined) return grant;
    return {
      events: [rulebookEvent('profile_unassigned', { ...whose, by: by.agent_id })],
      answer: { ...found },
    };
  });
}

/** For persons only: no agent restores trust that was lost by violations, least of all its own. */
export function restoreTrust(agent_id: string, by: Editor): Decision<JsonObject> {
  return changing((state) => {
    if (!by.person)
      return refuse('insufficient_trust_level', 'Only a person restores an agent’s trust.', {
        required_authority: 'person',
      });
    const lowered = state.lowered.find((each) => each.agent_id === agent_id);
    if (lowered === undefined) return { events: [], answer: { agent_id, restored: false } };
    const events = [rulebookEvent('trust_restored', { agent_id, by: by.agent_id })];
    return { events, answer: { agent_id, restored: true, lowered_to: lowered.to } };
  });
}

export interface RulebookDocument {
  readonly profiles: readonly ProfileEdit[];
  readonly assignments: readonly ProfileAssignment[];
  readonly settings?: RulebookSettings | undefined;
}

/** Applies the whole file in one commit, or nothing of it. */
export function applyProfiles(document: RulebookDocument, by: Editor): Decision<JsonObject> {
  return changing((before) => {
    let state = before;
    const events: EventBody[] = [];
    const steps = [
      ...document.profiles.map((profile) => setting(profile, by, true)),
      ...document.assignments.map((assignment) => assigning(assignment, by)),
    ];
    for (const step of steps) {
      const result = step(state);
      if ('success' in result) return result as Refusal;
      const made = (result as Exclude<ReturnType<Step>, Refusal>).events;
      events.push(...made);
      state = made.reduce((folded, event) => rulebookEntity.evolve(folded, event, 0), state);
    }
    const { settings } = document;
    if (settings !== undefined && Object.keys(settings).length > 0)
      events.push(rulebookEvent('rulebook_settings_set', { ...settings, by: by.agent_id }));
    const names = document.profiles.map(({ name }) => name);
    return { events, answer: { profiles: names, assignments: document.assignments.length } };
  });
}
