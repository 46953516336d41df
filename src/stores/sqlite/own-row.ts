import type { JsonObject } from '../../kernel/json.ts';
import { EVENT_SCHEMA, HOUSEKEEPER, type Unplaced } from '../../ledger/log.ts';

/** A row of the audit trail about the store itself. */
export function ownRow(
  { project, at_ms }: Pick<Unplaced, 'project' | 'at_ms'>,
  operation: string,
  { parameters = {}, result = {} }: { parameters?: JsonObject; result?: JsonObject },
): Unplaced {
  const row = { ...HOUSEKEEPER, sequence: 0, operation, operation_id: '', parameters };
  return {
    ...{ schema: EVENT_SCHEMA, project, at_ms, ...row },
    ...{ result: { success: true, ...result }, duration_ms: 0, events: [] },
  };
}
