import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, prose } from '../../runtime/input-schema.ts';

const capability = name('A short word such as typescript, review, browser.', 64);

export const registerSession = inputSchema(
  z.strictObject({
    capabilities: z
      .array(capability)
      .max(limits.capabilities_max)
      .describe('What you can do; others find you by it.')
      .optional(),
    current_task: prose(limits.reason_chars_max, 'What you are working on; others see it.').optional(),
    operation_id: fields.operation_id,
  }),
);

export const discoverAgents = inputSchema(
  z.strictObject({
    capability: capability.optional(),
    status: z.enum(['active', 'idle', 'disconnected']).describe('Default: active and idle ones.').optional(),
  }),
);

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
