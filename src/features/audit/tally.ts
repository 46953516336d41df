import type { LogEntry } from '../../ledger/log.ts';
import { SafetyTally } from './safety-tally.ts';

/** Cloud agents by the seed's names for them: claude_code_web, codex_cloud. */
const CLOUD = /(^|[_-])(web|cloud)([_-]|$)/i;
/** Errors that mean the caller was not served. */
const UNSERVED = /^(database_unavailable|store_\w+|disk_full|upgrade_required|internal_error)$/;
/** Rows of reads and refusals are written a little later: until then their numbers don't count as missing. */
const SETTLED_MS = 10_000;

interface Session {
  rows: number;
  lowest: number;
  highest: number;
  /** Connections under this session's name; if there is more than one, each numbers its rows separately. */
  starts: number;
  newest_at_ms: number;
}

/**
 * What the metrics need from the log, added row by row, so that a long-lived process continues where it was
 * instead of reading the log again.
 */
export class Tally {
  rows = 0;
  position = 0;
  superseded = 0;
  tasks_completed = 0;
  claims_ended = 0;
  cloud_calls = 0;
  cloud_served = 0;
  rows_dropped = 0;
  /** Calls that were done, not refused. */
  served = 0;
  readonly safety = new SafetyTally();
  readonly operations = new Map<string, { calls: number; refused: number; duration_ms: number }>();
  readonly #sessions = new Map<string, Session>();

  add(entry: LogEntry): void {
    this.position = entry.position;
    this.rows += 1;
    this.#addOperation(entry);
    this.#addSession(entry);
    const { error } = entry.result;
    if (entry.result.success === false && error === 'superseded') this.superseded += 1;
    if (CLOUD.test(entry.agent_type)) {
      this.cloud_calls += 1;
      if (typeof error !== 'string' || !UNSERVED.test(error)) this.cloud_served += 1;
    }
    if (entry.operation === 'audit_rows_dropped') this.rows_dropped += Number(entry.result.dropped) || 0;
    if (entry.result.success !== false) this.served += 1;
    for (const event of entry.events) {
      const { type } = event;
      this.safety.add(event, entry.at_ms);
      if (type === 'task_completed') this.tasks_completed += 1;
      if (/^task_(completed|failed|lease_expired|dead_lettered)$/.test(type)) this.claims_ended += 1;
    }
  }

  /** Numbers missing between the first and the last row of a session. */
  missing(now_ms: number): number {
    let missing = 0;
    for (const { rows, lowest, highest, starts, newest_at_ms } of this.#sessions.values())
      if (starts <= 1 && newest_at_ms < now_ms - SETTLED_MS) missing += highest - lowest + 1 - rows;
    return Math.max(0, missing);
  }

  #addOperation({ operation, result, duration_ms }: LogEntry): void {
    const counted = this.operations.get(operation) ?? { calls: 0, refused: 0, duration_ms: 0 };
    counted.calls += 1;
    if (result.success === false) counted.refused += 1;
    counted.duration_ms += duration_ms;
    this.operations.set(operation, counted);
  }

  #addSession({ agent_id, session_id, sequence, at_ms }: LogEntry): void {
    // Coxswain's own rows are in no session's numbering.
    if (sequence === 0) return;
    const name = `${agent_id}\0${session_id}`;
    const session = this.#sessions.get(name) ?? {
      rows: 0,
      lowest: sequence,
      highest: sequence,
      starts: 0,
      newest_at_ms: at_ms,
    };
    session.rows += 1;
    session.lowest = Math.min(session.lowest, sequence);
    session.highest = Math.max(session.highest, sequence);
    session.newest_at_ms = Math.max(session.newest_at_ms, at_ms);
    if (sequence === 1) session.starts += 1;
    this.#sessions.set(name, session);
  }
}
