import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { fields, inputSchema, name } from '../../../runtime/input-schema.ts';

export const routeWork = inputSchema(
  z.strictObject({
    agents: z
      .array(
        z.strictObject({
          agent_id: name('Who.'),
          agent_role: name(
            'Its role; default: the one agent_roles.yml gives it.',
            limits.agent_role_chars_max,
          ).optional(),
        }),
      )
      .min(1)
      .max(limits.routed_agents_max)
      .describe('For whom, the first one first; default: you.')
      .optional(),
    limit: z
      .int()
      .min(1)
      .max(limits.routing_listed_max)
      .default(20)
      .describe('At most so many warnings, groups and the like.'),
  }),
);

export const rebuildViews = inputSchema(z.strictObject({ operation_id: fields.operation_id }));
