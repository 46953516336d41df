import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import type { Editor } from '../change-rulebook.ts';
import {
  applyProfiles as decideApply,
  assignProfile as decideAssign,
  removeProfile as decideRemove,
  restoreTrust as decideRestore,
  setProfile as decideSet,
  unassignProfile as decideUnassign,
} from '../commands.ts';
import type { GivenProfile } from '../profiles/profile-file.ts';
import type { ProfileAssignment } from '../rulebook.ts';

/** For a person, or an agent with the highest trust: any other caller is refused in the decision loop. */
const CHANGES_RULES = { mutates: true, standard: false, trust: 4, group: 'profile' } as const;

function editor({ caller, authority }: Step): Editor {
  return { agent_id: caller.agent_id, person: authority === 'person' };
}

export const setProfile = {
  ...CHANGES_RULES,
  name: 'set_profile',
  verb: 'set',
  summary: 'Make a profile, or change the named fields of one. Trust 4 or a person.',
  route: { method: 'POST', path: '/profiles/set' },
  positional: ['name'],
  examples: [
    'cox profile set docs-writer --trust-level 1 --allowed-operations read write',
    `cox profile set codex-cli --resource-limits '{"max_file_modifications":50,"max_execution_time":"2h"}'`,
  ],
  sample: { name: 'docs-writer', trust_level: 1, allowed_operations: ['read', 'write'] },
  input: async () => (await import('../schemas/profile-schemas.ts')).setProfile,
  async handle({ name, operation_id: _, ...given }, step) {
    const { profileEdit } = await import('../profiles/profile-file.ts');
    const { describeProfile } = await import('../profiles/show-profile.ts');
    const answer = answerOf(await step.run(decideSet(profileEdit(name, given), editor(step))));
    if (answer.success === false) return answer;
    return { ...answer, profile: describeProfile(answer.profile as never) };
  },
} satisfies Operation<GivenProfile & { name: string; operation_id?: string | undefined }>;

export const removeProfile = {
  ...CHANGES_RULES,
  name: 'remove_profile',
  verb: 'remove',
  summary: 'Remove a profile that was made here; a shipped one is as it ships again. Trust 4 or a person.',
  route: { method: 'POST', path: '/profiles/remove' },
  destructive: true,
  positional: ['name'],
  examples: ['cox profile remove docs-writer'],
  sample: { name: 'docs-writer' },
  input: async () => (await import('../schemas/profile-schemas.ts')).removeProfile,
  handle: async ({ name }, step) => answerOf(await step.run(decideRemove(name, editor(step)))),
} satisfies Operation<{ name: string }>;

export interface Whose {
  to_agent?: string | undefined;
  to_type?: string | undefined;
}

function whoseIs({ to_agent, to_type }: Whose): Omit<ProfileAssignment, 'profile'> {
  return to_agent === undefined ? { agent_type: to_type } : { agent_id: to_agent };
}

export const assignProfile = {
  ...CHANGES_RULES,
  name: 'assign_profile',
  verb: 'assign',
  summary: 'Give a profile to an agent, or to all agents of a type. Trust 4 or a person.',
  route: { method: 'POST', path: '/profiles/assign' },
  repeatable: true,
  positional: ['profile'],
  examples: ['cox profile assign reviewer --to-agent alice', 'cox profile assign codex-cli --to-type my_bot'],
  sample: { profile: 'reviewer', to_agent: 'alice' },
  input: async () => (await import('../schemas/profile-schemas.ts')).assignProfile,
  async handle({ profile, ...whose }, step) {
    const assignment = { ...whoseIs(whose), profile } as ProfileAssignment;
    return answerOf(await step.run(decideAssign(assignment, editor(step))));
  },
} satisfies Operation<Whose & { profile: string }>;

export const unassignProfile = {
  ...CHANGES_RULES,
  name: 'unassign_profile',
  verb: 'unassign',
  summary: 'Take an assignment back: what ships for the type holds again. Trust 4 or a person.',
  route: { method: 'POST', path: '/profiles/unassign' },
  examples: ['cox profile unassign --to-agent alice'],
  sample: { to_agent: 'alice' },
  input: async () => (await import('../schemas/profile-schemas.ts')).unassignProfile,
  handle: async (whose, step) => answerOf(await step.run(decideUnassign(whoseIs(whose), editor(step)))),
} satisfies Operation<Whose>;

export const restoreTrust = {
  ...CHANGES_RULES,
  name: 'restore_trust',
  verb: 'restore-trust',
  summary: 'Give an agent back the trust that violations took. A person only.',
  route: { method: 'POST', path: '/profiles/restore-trust' },
  repeatable: true,
  positional: ['agent_name'],
  examples: ['cox profile restore-trust alice'],
  sample: { agent_name: 'alice' },
  input: async () => (await import('../schemas/profile-schemas.ts')).restoreTrust,
  handle: async ({ agent_name }, step) => answerOf(await step.run(decideRestore(agent_name, editor(step)))),
} satisfies Operation<{ agent_name: string }>;

export const applyProfiles = {
  ...CHANGES_RULES,
  name: 'apply_profiles',
  verb: 'apply',
  summary: 'Apply a YAML file of profiles, assignments and settings, all or nothing. Trust 4 or a person.',
  route: { method: 'POST', path: '/profiles/apply' },
  repeatable: true,
  positional: ['document'],
  file: 'document',
  examples: ['cox profile apply profiles.yaml'],
  sample: { document: 'profiles:\n  docs-writer: { trust_level: 1, allowed_operations: [read, write] }\n' },
  input: async () => (await import('../schemas/profile-schemas.ts')).applyProfiles,
  async handle({ document }, step) {
    const { parseProfiles } = await import('../profiles/profile-file.ts');
    const parsed = parseProfiles(document);
    if (parsed.ok) return answerOf(await step.run(decideApply(parsed.document, editor(step))));
    const errors = parsed.problems.map((problem) => ({ ...problem })) as JsonObject[];
    const [first] = parsed.problems;
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    const message = `line ${first?.line}: ${first?.field}: ${first?.reason}${more}`;
    return refuse('profiles_invalid', message, { errors });
  },
} satisfies Operation<{ document: string }>;
