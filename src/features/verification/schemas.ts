import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, path, prose, text } from '../../runtime/input-schema.ts';
import { checkVerificationPolicy, policyFields } from './files/policy-schema.ts';

const commit_sha = z
  .string()
  .regex(/^[0-9a-f]{7,64}$/, 'a commit id, 7 to 64 hexadecimal digits')
  .describe('The commit that holds the changes.');
const changeset_id = z
  .guid('a changeset id as submit_changeset returns it')
  .describe('The id that submit_changeset returned.');
const run_id = z
  .string()
  .regex(/^[0-9a-f]{40,64}#[a-z0-9][a-z0-9_-]*$/, 'a run id as verify_changeset shows it')
  .max(160)
  .describe('The commit and the policy, as verify_changeset shows it.');

export const verifyChangeset = inputSchema(
  z.strictObject({
    changeset_id,
    commit_sha: commit_sha.describe('Its full id, if the changeset was submitted without it.').optional(),
    force: z.boolean().default(false).describe('Once more in spite of a result; a person’s to say.'),
    operation_id: fields.operation_id,
  }),
);

export const verificationStatus = inputSchema(
  z
    .strictObject({ changeset_id: changeset_id.optional(), commit_sha: commit_sha.optional() })
    .refine((value) => (value.changeset_id === undefined) !== (value.commit_sha === undefined), {
      message: 'either changeset_id or commit_sha',
      path: ['changeset_id'],
    }),
);

export const listVerificationPolicies = inputSchema(z.strictObject({}));

export const setVerificationPolicy = inputSchema(
  z.strictObject({ ...policyFields, operation_id: fields.operation_id }).superRefine(checkVerificationPolicy),
);

export const removeVerificationPolicy = inputSchema(
  z.strictObject({ name: policyFields.name, operation_id: fields.operation_id }),
);

export const startVerification = inputSchema(
  z.strictObject({
    run_id,
    timeout_minutes: z
      .number()
      .positive()
      .max(limits.verification_timeout_seconds_max / 60)
      .default(30)
      .describe('Without a result by then somebody else may take it.'),
    operation_id: fields.operation_id,
  }),
);

export const recordVerification = inputSchema(
  z.strictObject({
    run_id,
    status: z.enum(['passed', 'failed', 'error']),
    secret: text(200, 'What start_verification showed; a person needs none.').optional(),
    exit_code: z.int().min(0).max(255).optional(),
    output: text(200_000, 'What it wrote; the end is kept, secrets masked.').optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .max(500)
      .describe('Where more can be read.')
      .optional(),
    operation_id: fields.operation_id,
  }),
);

export const submitChangeset = inputSchema(
  z.strictObject({
    file_paths: z.array(path('A file you changed.')).min(1).max(limits.changeset_files_max),
    commit_sha: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/, 'a commit id, 7 to 64 hexadecimal digits')
      .describe('The commit that holds the changes.')
      .optional(),
    base: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/, 'a commit id, 7 to 64 hexadecimal digits')
      .describe('The commit it is to be held against; default: its parent.')
      .optional(),
    diff: text(limits.changeset_diff_chars_max, 'The change itself, for a person to look at.').optional(),
    summary: prose(limits.reason_chars_max, 'In a few words.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const listChangesets = inputSchema(
  z.strictObject({
    agent_name: name('Whose session it is; default: yours.').optional(),
    of_session: name('Only of this session.').optional(),
    limit: z.int().min(1).max(100).default(20),
  }),
);
