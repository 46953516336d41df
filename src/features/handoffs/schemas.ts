import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, someProse } from '../../runtime/input-schema.ts';

const items = (description: string) =>
  z
    .array(someProse(limits.handoff_item_chars_max, 'One point.'))
    .max(limits.handoff_items_max)
    .default([])
    .describe(description);

export const writeHandoff = inputSchema(
  z.strictObject({
    summary: someProse(limits.handoff_chars_max, 'Where things stand, for whoever goes on.'),
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
