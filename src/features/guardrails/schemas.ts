import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, someText } from '../../runtime/input-schema.ts';

export const checkGuardrails = inputSchema(
  z.strictObject({
    operation_text: someText(limits.operation_text_chars_max, 'The command, as you would run it.'),
    // Also paths outside the repository, to which the rules for its paths do not apply.
    file_paths: z
      .array(someText(4096, 'A file'))
      .max(limits.paths_per_call)
      .default([])
      .describe('Files it would change.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('Only look: nothing is recorded, no approval used up, nobody asked.'),
    operation_id: fields.operation_id,
  }),
);

export const listViolations = inputSchema(
  z.strictObject({
    agent_id: name('Of this agent; default: of all.').optional(),
    limit: z.int().min(1).max(limits.violations_listed_max).default(20).describe('How many.'),
  }),
);
