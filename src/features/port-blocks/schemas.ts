import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { isUnprintable } from '../../kernel/names.ts';
import { inputSchema } from '../../runtime/input-schema.ts';

const chars_max = limits.agent_id_chars_max;
const session_id = z
  .string()
  .min(1, `1 to ${chars_max} characters`)
  .max(chars_max, `1 to ${chars_max} characters`)
  .refine((name) => name.trim() !== '' && !isUnprintable(name), 'printable characters only')
  .describe('Whose ports: any name, such as your worktree’s.');

const { ttl_minutes_min: least, port_ttl_minutes_max: most } = limits;

export const allocatePorts = inputSchema(
  z.strictObject({
    session_id,
    ttl_minutes: z
      .number()
      .min(least, `between ${least} and ${most} minutes`)
      .max(most, `between ${least} and ${most} minutes`)
      .describe('Default: PORT_ALLOC_TTL_MINUTES, else 120.')
      .optional(),
  }),
);

export const releasePorts = inputSchema(z.strictObject({ session_id }));

export const portsStatus = inputSchema(z.strictObject({}));
