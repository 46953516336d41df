import type { JsonObject } from '../../src/kernel/json.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { BoardModel } from './board/model-board.ts';
import { ClaimModel } from './claims/model-claims.ts';
import { LockModel } from './model-locks.ts';
import { TaskModel } from './model-tasks.ts';

class Violation extends Error {
  override name = 'Violation';
}

export function insist(condition: boolean, what: string, ...about: unknown[]): asserts condition {
  if (!condition) throw new Violation([what, ...about.map((each) => JSON.stringify(each))].join(' '));
}

export interface Grant {
  readonly agent_id: string;
  readonly session_id: string;
  readonly token: number;
  readonly expires_at_ms: number;
}

/** What is known about a row from outside the log. */
export interface Circumstances {
  /** The store's time when the row was committed. */
  readonly clock_ms: number;
  /** The latest time that was ever shown. */
  readonly clock_ms_max: number;
  /** The log's length when the attempt that led to this commit began to read. */
  readonly read_from: number;
  /** The grant that the caller means by this key: the one it named, else its connection's own. */
  readonly meant: (key: string) => number | undefined;
}

/** What a claim's own commits write; the queue of approvals has tests of its own. */
const OF_CLAIMS = new Set(['claim', 'claim_mode', 'approval', 'notice']);

const OF_BOARD = new Set(['board', 'board_claim', 'artefact', 'thread']);

const KEPT_MS = 24 * 3600 * 1000;

/**
 * The promises, checked on the log as it grows. Written from the requirements: it knows the events' names and data and
 * shares no code with the deciders, with `evolve` or with the lease.
 */
export class Model {
  readonly locks = new LockModel();
  readonly tasks = new TaskModel(this.locks);
  readonly claims = new ClaimModel();
  readonly board = new BoardModel();
  position = 0;
  readonly #commits = new Map<string, LogEntry[]>();
  readonly #bySequence = new Map<string, LogEntry[]>();

  apply(row: LogEntry, circumstances: Circumstances): void {
    insist(row.position === this.position + 1, 'a gap in the log before', row.position);
    insist(row.at_ms <= circumstances.clock_ms_max, 'a row from the future', row.position);
    this.position = row.position;
    const sequence = `${row.session_id}\0${row.sequence}`;
    if (isCommit(row)) this.#once(row, circumstances);
    if (row.sequence > 0) this.#bySequence.set(sequence, [...(this.#bySequence.get(sequence) ?? []), row]);
    this.tasks.begin(row, circumstances);
    for (const event of row.events) {
      if (event.kind.startsWith('lock')) this.locks.apply(event, row, circumstances);
      else if (OF_BOARD.has(event.kind)) this.board.apply(event, row);
      else if (OF_CLAIMS.has(event.kind)) this.claims.apply(event, row, circumstances);
      else this.tasks.apply(event, row, circumstances);
    }
    this.tasks.end(row, circumstances);
    this.locks.end(row);
    this.claims.end(row);
    this.board.end(row);
  }

  #once(row: LogEntry, { clock_ms_max }: Circumstances): void {
    const earlier = this.commitsOf(row.agent_id, row.operation_id);
    const last = earlier.at(-1);
    // A batch of which every item was refused did nothing; repeating it is written down in the same words.
    const idle = row.events.length === 0 && row.result.results !== undefined;
    const forgotten = last !== undefined && clock_ms_max - last.at_ms > KEPT_MS;
    insist(
      last === undefined || forgotten || idle,
      'one id, two commits',
      row.operation_id,
      last?.position,
      row.position,
    );
    this.#commits.set(`${row.agent_id}\0${row.operation_id}`, [...earlier, row]);
  }

  /** More than one only if the first was so long ago that it may be forgotten. */
  commitsOf(agent_id: string, operation_id: string): readonly LogEntry[] {
    return this.#commits.get(`${agent_id}\0${operation_id}`) ?? [];
  }

  rowsOf(session_id: string, sequence: number): readonly LogEntry[] {
    return this.#bySequence.get(`${session_id}\0${sequence}`) ?? [];
  }
}

/** A row of a read, a refusal or a repeat says only that it happened. */
export function isCommit(row: LogEntry): boolean {
  return row.events.length > 0 || row.result.tasks !== undefined || row.result.results !== undefined;
}

export function grantOf(data: JsonObject): Grant {
  const { agent_id, session_id, token, expires_at_ms } = data.lease as unknown as Grant;
  return { agent_id, session_id, token, expires_at_ms };
}
