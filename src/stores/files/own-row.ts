import type { JsonObject } from '../../kernel/json.ts';
import { EVENT_SCHEMA } from '../../ledger/log.ts';
import type { Statements } from '../sqlite/statements.ts';

/** A row of the audit trail about the store itself. */
export function tellOf(
  statements: Statements,
  operation: string,
  { home, position, at_ms }: { readonly home: string; readonly position: number; readonly at_ms: number },
  parameters: JsonObject,
): void {
  const own = { agent_id: 'coxswain', agent_type: 'system', session_id: 'coxswain', sequence: 0 };
  const row = { ...own, operation, operation_id: '', parameters, result: { success: true }, duration_ms: 0 };
  statements.append(position, { schema: EVENT_SCHEMA, project: home, at_ms, ...row, events: [] }, null);
}
