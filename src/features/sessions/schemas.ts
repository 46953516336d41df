import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, path, someText, text } from '../../runtime/input-schema.ts';

const capability = name('A short word such as typescript, review, browser.', 64);

export const registerSession = inputSchema(
  z.strictObject({
    capabilities: z
      .array(capability)
      .max(limits.capabilities_max)
      .describe('What you can do; others find you by it.')
      .optional(),
    current_task: text(limits.reason_chars_max, 'What you are working on; others see it.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const discoverAgents = inputSchema(
  z.strictObject({
    capability: capability.optional(),
    status: z.enum(['active', 'idle', 'disconnected']).describe('Default: active and idle ones.').optional(),
  }),
);

export const showTeam = inputSchema(z.strictObject({}));

const onlyId = inputSchema(z.strictObject({ operation_id: fields.operation_id }));

export const heartbeat = onlyId;

export const endSession = onlyId;

export const cleanupDeadAgents = inputSchema(
  z.strictObject({
    stale_threshold_minutes: z
      .number()
      .positive()
      .max(7 * 24 * 60)
      .default(limits.session_stale_minutes_default)
      .describe('Silent for longer than this.'),
    operation_id: fields.operation_id,
  }),
);

const items = (description: string) =>
  z
    .array(someText(limits.handoff_item_chars_max, 'One point.'))
    .max(limits.handoff_items_max)
    .default([])
    .describe(description);

export const writeHandoff = inputSchema(
  z.strictObject({
    summary: someText(limits.handoff_chars_max, 'Where things stand, for whoever goes on.'),
    completed_work: items('What is done.'),
    in_progress: items('What is begun.'),
    decisions: items('What was decided, and why.'),
    next_steps: items('What to do next.'),
    relevant_files: items('Where to look.'),
    operation_id: fields.operation_id,
  }),
);

export const readHandoff = inputSchema(
  z.strictObject({
    agent_name: name('Whose; default: of all.').optional(),
    limit: z.int().min(1).max(limits.handoffs_listed_max).default(3),
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
    summary: text(limits.reason_chars_max, 'In a few words.').optional(),
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
