import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { fields, inputSchema, name, path, payload, someText } from '../../../runtime/input-schema.ts';
import { profileFields, profileName, resourceLimits } from '../profiles/profile-shape.ts';

export const getMyProfile = inputSchema(z.strictObject({}));

export const listProfiles = inputSchema(z.strictObject({}));

const named = profileName.describe('The name of the profile, as list_profiles shows it.');

export const showProfile = inputSchema(z.strictObject({ name: named }));

export const setProfile = inputSchema(
  z.strictObject({
    name: named,
    ...profileFields(),
    resource_limits: resourceLimits().optional(),
    operation_id: fields.operation_id,
  }),
);

export const removeProfile = inputSchema(z.strictObject({ name: named, operation_id: fields.operation_id }));

interface Whose {
  readonly to_agent?: string | undefined;
  readonly to_type?: string | undefined;
}

const whose = {
  to_agent: name('One agent, by its id.').optional(),
  to_type: name('Every agent of this type that has none of its own.').optional(),
};
const isOne = ({ to_agent, to_type }: Whose) => (to_agent === undefined) !== (to_type === undefined);
const oneOfThem = { path: ['to_agent'], message: 'whose profile it is: either to_agent or to_type' };

export const assignProfile = inputSchema(
  z.strictObject({ profile: named, ...whose, operation_id: fields.operation_id }).refine(isOne, oneOfThem),
);

export const unassignProfile = inputSchema(
  z.strictObject({ ...whose, operation_id: fields.operation_id }).refine(isOne, oneOfThem),
);

export const restoreTrust = inputSchema(
  z.strictObject({
    agent_name: name('The agent whose trust was lowered.'),
    operation_id: fields.operation_id,
  }),
);

export const applyProfiles = inputSchema(
  z.strictObject({
    document: someText(
      limits.rulebook_file_chars_max,
      'YAML: profiles by name, assignments, settings. Applied whole or not at all.',
    ),
    operation_id: fields.operation_id,
  }),
);

export const checkPolicy = inputSchema(
  z.strictObject({
    operation: someText(
      128,
      'An operation (acquire_lock), a permission (write) or a guarded one (force_push).',
    ),
    resource: someText(4096, 'What it is about, such as a file.').optional(),
    context: payload('For whom, if it is not you: {"agent_id": …, "agent_type": …}; and by which "door".'),
  }),
);

export const reportUsage = inputSchema(
  z.strictObject({
    file_reads: z.int().min(0).max(10_000).describe('How many files you are about to read.').optional(),
    files: z
      .array(path('A file you are about to change.'))
      .max(limits.changeset_files_max)
      .describe('The files you are about to change; each counts once in a session.')
      .optional(),
    operation_id: fields.operation_id,
  }),
);
