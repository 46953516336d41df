import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, path, text } from './schema.ts';

const file_path = path('Relative to the repository, absolute inside it, or a logical key such as api:users.');

export const acquireLock = inputSchema(
  z.strictObject({
    file_path,
    reason: text(limits.reason_chars_max, 'What you are about to do; others see it.').optional(),
    ttl_minutes: fields.minutes(
      'How long you need it; acquire again to extend.',
      limits.lock_ttl_minutes_default,
    ),
    fencing_token: fields.fencing_token,
    operation_id: fields.operation_id,
  }),
);

export const releaseLock = inputSchema(
  z.strictObject({ file_path, fencing_token: fields.fencing_token, operation_id: fields.operation_id }),
);

export const checkLocks = inputSchema(
  z.strictObject({
    file_paths: z
      .array(file_path)
      .min(1)
      .max(limits.paths_per_call)
      .describe('Default: all locks.')
      .optional(),
  }),
);
