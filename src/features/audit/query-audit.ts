import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { Operation, Step } from '../../runtime/operation.ts';

export interface QueryAuditInput {
  readonly agent_id?: string;
  readonly operation?: string;
  readonly since?: string;
  readonly until?: string;
  readonly result?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export const queryAudit = {
  name: 'query_audit',
  group: 'audit',
  verb: 'query',
  summary: 'Who did what, newest first: every operation with its outcome. Page with next_cursor.',
  route: { method: 'GET', path: '/audit' },
  mutates: false,
  standard: true,
  examples: [
    'cox audit query --agent-id alice --limit 50',
    'cox audit query --operation acquire_lock --result blocked --since 2026-03-01T00:00:00Z --json',
  ],
  input: async () => (await import('./schemas.ts')).queryAudit,
  async handle(input, step) {
    const agent_id = visibleAgent(input, step);
    if (typeof agent_id === 'object') return agent_id;
    const below = input.cursor === undefined ? undefined : readCursor(input.cursor);
    if (Number.isNaN(below))
      return refuse('invalid_input', 'cursor: expected the next_cursor of an answer', { field: 'cursor' });
    const page = await step.search({
      agent_id,
      operation: input.operation,
      since_ms: momentOf(input.since),
      until_ms: momentOf(input.until),
      result: input.result,
      below,
      limit: input.limit,
    });
    return {
      success: true,
      entries: page.entries.map(shown),
      ...(page.below === undefined ? {} : { next_cursor: writeCursor(page.below) }),
    };
  },
} satisfies Operation<QueryAuditInput>;

/**
 * An agent sees what it did itself; a person, or a caller with direct access to the store, sees everything.
 */
function visibleAgent(
  { agent_id }: QueryAuditInput,
  { authority, caller }: Step,
): string | undefined | Refusal {
  if (authority !== 'agent') return agent_id;
  if (agent_id === undefined || agent_id === caller.agent_id) return caller.agent_id;
  return refuse('forbidden', 'An agent sees only its own rows of the audit trail.', { field: 'agent_id' });
}

function momentOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** A position in the log: later rows are above it, so a page never changes under the reader. */
function writeCursor(position: number): string {
  return Buffer.from(`before ${position}`).toString('base64url');
}

function readCursor(cursor: string): number {
  const [, position] = /^before ([1-9]\d{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return position === undefined ? Number.NaN : Number(position);
}

function shown(entry: LogEntry): JsonObject {
  const { position, at_ms, agent_id, agent_type, session_id, sequence, operation } = entry;
  const { parameters, result, duration_ms, events } = entry;
  return {
    position,
    timestamp: isoTime(at_ms),
    agent_id,
    agent_type,
    session_id,
    sequence,
    operation,
    parameters,
    result,
    duration_ms,
    events: events.map(({ kind, id, type }) => ({ kind, id, type })),
  };
}
