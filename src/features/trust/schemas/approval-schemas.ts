import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { fields, inputSchema, name, someProse } from '../../../runtime/input-schema.ts';
import { APPROVAL_STATUSES } from '../approvals/approval.ts';

const approval_id = z
  .string()
  .regex(/^[0-9a-f]{12}$/, 'an id as list_approvals shows it')
  .describe('The id of the approval, as list_approvals shows it.');

const shown_hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'the shown_hash of show_approval')
  .describe('What was looked at: shown_hash of show_approval. If it has changed since, nothing is decided.');

export const listApprovals = inputSchema(
  z.strictObject({
    status: z
      .enum([...APPROVAL_STATUSES, 'all'])
      .default('pending')
      .describe('Those with this status.'),
    requested_by: name('Of this agent; default: of all.').optional(),
    limit: z.int().min(1).max(limits.approvals_listed_max).default(20).describe('How many.'),
  }),
);

export const showApproval = inputSchema(z.strictObject({ approval_id }));

export const approve = inputSchema(
  z.strictObject({
    approval_id,
    shown_hash,
    reason: someProse(limits.reason_chars_max, 'Why it is all right.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const denyApproval = inputSchema(
  z.strictObject({
    approval_id,
    reason: someProse(limits.reason_chars_max, 'Why not, and what to do instead; the agent is told.'),
    shown_hash: shown_hash.optional(),
    operation_id: fields.operation_id,
  }),
);
