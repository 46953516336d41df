import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { inputSchema, someText } from '../../runtime/input-schema.ts';

const moment = (description: string) => z.iso.datetime({ offset: true }).describe(description).optional();

export const queryAudit = inputSchema(
  z.strictObject({
    agent_id: someText(limits.agent_id_chars_max, 'Default: everybody you may see.').optional(),
    operation: someText(64, 'Such as acquire_lock.').optional(),
    since: moment('ISO time of the oldest row.'),
    until: moment('ISO time of the newest row.'),
    result: someText(64, 'success, refused, or the code of a refusal.').optional(),
    limit: z.int().min(1).max(limits.audit_rows_per_page).default(20),
    cursor: someText(64, 'next_cursor of the page before.').optional(),
  }),
);

export const getStats = inputSchema(
  z.strictObject({ since: moment('ISO time to count from; default: 24 hours ago.') }),
);
