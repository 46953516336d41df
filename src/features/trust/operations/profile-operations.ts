import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { everyProfile, profileNamed, type RulebookState } from '../rulebook.ts';
import { rulesFor } from '../rules/rulebook-reader.ts';
import { describeUsage, type UsageState, usageKey } from '../usage.ts';

/** Loaded only for operations that describe profiles; a hook that locks a file does not need it. */
const words = () => import('../profiles/show-profile.ts');

export const getMyProfile = {
  name: 'get_my_profile',
  group: 'profile',
  verb: 'me',
  summary: 'What you may do: permissions, trust level, limits and how much of them is used; and why.',
  route: { method: 'GET', path: '/profiles/me' },
  mutates: false,
  standard: true,
  examples: ['cox profile me', 'cox profile me --agent alice --json'],
  input: async () => (await import('../schemas/profile-schemas.ts')).getMyProfile,
  async handle(_input, step) {
    const standing = await rulesFor(step).standing();
    const key = usageKey(step.caller);
    const { loaded, now_ms } = await step.find({ keys: [key] });
    const { describeProfile, whyThisProfile } = await words();
    return {
      success: true,
      agent_id: step.caller.agent_id,
      agent_type: step.caller.agent_type,
      profile: describeProfile(standing.profile),
      trust_level: standing.trust_level,
      source: standing.source,
      reason: whyThisProfile(standing, step.caller.agent_type),
      used: describeUsage(loaded.get<UsageState>(key)?.state, now_ms),
    };
  },
} satisfies Operation;

export const listProfiles = {
  name: 'list_profiles',
  group: 'profile',
  verb: 'list',
  summary: 'All profiles in short, who has which, and whose trust was lowered.',
  route: { method: 'POST', path: '/profiles/list' },
  mutates: false,
  standard: false,
  examples: ['cox profile list', 'cox profile list --json'],
  input: async () => (await import('../schemas/profile-schemas.ts')).listProfiles,
  async handle(_input, step) {
    const state = await rulesFor(step).rulebook();
    const { originOf } = await words();
    const profiles = everyProfile(state).map(({ name, agent_types, trust_level, connection }) => ({
      name,
      trust_level,
      agent_types: [...agent_types],
      connection,
      origin: originOf(state, name),
    }));
    return { success: true, profiles, ...assignedAndLowered(state), settings: { ...state?.settings } };
  },
} satisfies Operation;

function assignedAndLowered(state: RulebookState | undefined): JsonObject {
  return {
    assignments: (state?.assignments ?? []).map((each) => ({ ...each })),
    lowered: (state?.lowered ?? []).map(({ at_ms, ...rest }) => ({ ...rest, since_at: isoTime(at_ms) })),
  };
}

export const showProfile = {
  name: 'show_profile',
  group: 'profile',
  verb: 'show',
  summary: 'One profile with everything it says.',
  route: { method: 'POST', path: '/profiles/show' },
  mutates: false,
  standard: false,
  positional: ['name'],
  examples: ['cox profile show codex-cloud-worker'],
  sample: { name: 'codex-cloud-worker' },
  input: async () => (await import('../schemas/profile-schemas.ts')).showProfile,
  async handle({ name }, step) {
    const state = await rulesFor(step).rulebook();
    const profile = profileNamed(state, name);
    if (profile === undefined)
      return refuse('unknown_profile', `There is no profile ${JSON.stringify(name)}.`, { profile: name });
    const { describeProfile, originOf } = await words();
    return { success: true, profile: describeProfile(profile), origin: originOf(state, name) };
  },
} satisfies Operation<{ name: string }>;
