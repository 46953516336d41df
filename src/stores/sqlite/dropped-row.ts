import { EVENT_SCHEMA, type Unplaced } from '../../ledger/log.ts';

/** Says in the log itself that rows of reads and refusals were given up. */
export function droppedRow(like: Unplaced, count: number): Unplaced {
  return {
    ...like,
    schema: EVENT_SCHEMA,
    agent_id: 'coxswain',
    agent_type: 'system',
    session_id: 'coxswain',
    sequence: 0,
    operation: 'audit_rows_dropped',
    operation_id: '',
    parameters: {},
    result: { success: true, dropped: count },
    duration_ms: 0,
    events: [],
  };
}
