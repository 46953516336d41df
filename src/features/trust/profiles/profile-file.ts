import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { nameProblem } from '../../../kernel/names.ts';
import { type FileProblem, readYaml } from '../../../storage/yaml-file.ts';
import type { ProfileEdit, RulebookDocument } from '../change-rulebook.ts';
import type { ProfileAssignment } from '../rulebook.ts';
import { limitsFrom, profileFields, profileName, resourceLimits, trustFrom } from './profile-shape.ts';

export type ParsedProfiles =
  | { readonly ok: true; readonly document: RulebookDocument }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const who = z.string().refine((name) => nameProblem(name) === undefined, 'the name of an agent');

/** `strict` reports unknown keys; without it, the rest can be checked despite them. */
function fileSchema(strict: boolean) {
  const object = (strict ? z.strictObject : z.object) as typeof z.strictObject;
  const profile = object({
    ...profileFields(),
    /** The seed's key, for one type. */
    agent_type: z.string().min(1).max(limits.agent_id_chars_max).optional(),
    resource_limits: resourceLimits(object).optional(),
  }).refine(
    ({ agent_type, agent_types }) => agent_type === undefined || agent_types?.includes(agent_type) !== false,
    'either agent_type or agent_types, or agent_types with agent_type among them',
  );
  return object({
    profiles: z.record(profileName, profile).optional(),
    assignments: z
      .array(
        object({ agent_id: who.optional(), agent_type: who.optional(), profile: profileName }).refine(
          ({ agent_id, agent_type }) => (agent_id === undefined) !== (agent_type === undefined),
          'either agent_id or agent_type',
        ),
      )
      .max(limits.assignments_max)
      .optional(),
    settings: object({
      default_trust: z.int().min(0).max(3).optional(),
      lower_trust_after: z.int().min(0).max(1000).optional(),
      approval_hours: z
        .number()
        .positive()
        .max(24 * 30)
        .optional(),
    }).optional(),
  });
}

const [file, looseFile] = [fileSchema(true), fileSchema(false)];

type ProfilesFile = z.output<typeof file>;

/** What `cox profile apply` reads: profiles in the seed's words, assignments and settings. */
export function parseProfiles(text: string): ParsedProfiles {
  const { value, problems } = readYaml(text, file, looseFile);
  if (value === undefined || problems.length > 0) return { ok: false, problems };
  return { ok: true, document: documentOf(value) };
}

function documentOf({ profiles = {}, assignments = [], settings }: ProfilesFile): RulebookDocument {
  return {
    profiles: Object.entries(profiles).map(([name, profile]) => profileEdit(name, profile)),
    assignments: assignments as ProfileAssignment[],
    settings:
      settings === undefined ? undefined : { ...settings, default_trust: trustFrom(settings.default_trust) },
  };
}

export type GivenProfile = NonNullable<ProfilesFile['profiles']>[string];

export function profileEdit(name: string, given: GivenProfile): ProfileEdit {
  const { agent_type, agent_types, resource_limits, trust_level, ...rest } = given;
  return {
    ...rest,
    name,
    agent_types: agent_types ?? (agent_type === undefined ? undefined : [agent_type]),
    trust_level: trustFrom(trust_level),
    resource_limits: resource_limits === undefined ? undefined : limitsFrom(resource_limits),
  };
}
