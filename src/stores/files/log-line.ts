import { crc32 } from 'node:zlib';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { agentOfEvent, type Unplaced } from '../../ledger/log.ts';

/**
 * One event as a line of `events.jsonl`: the flat shape that other implementations read, and under `cox` what
 * we need to restore the commit exactly. `crc` ends the line and covers all bytes before `,"crc":`. So it can
 * be checked without knowing the order of fields, and a line that another program has rewritten is not taken
 * for ours.
 */
const VERSION = 1;

/** What a commit has once; it is in the commit's first line. */
export interface CommitPart {
  readonly operation: string;
  readonly operation_id: string;
  readonly agent_type: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly sequence: number;
  /**
   * With these two a retry gets its first outcome, even when only the log is left. Never one without the
   * other.
   */
  readonly input_digest?: string | undefined;
  readonly answer?: JsonObject | undefined;
}

/**
 * Of an operation id that may come again. An id made for one call alone has an empty digest and needs no
 * stored answer.
 */
export interface Retryable {
  readonly input_digest: string;
  readonly answer: JsonObject;
}

export interface OwnLine {
  readonly commit: number;
  /** The n-th of the commit's `of` lines, from 1: a commit that lacks one was torn. */
  readonly n: number;
  readonly of: number;
  readonly at_ms: number;
  readonly schema: number;
  readonly project: string;
  readonly event: EventBody;
  /** In the first line of each commit, and only there. */
  readonly op?: CommitPart | undefined;
}

/** Nothing that is in the flat part already: the cost of reading a line is mostly its number of fields. */
interface Bookkeeping {
  readonly v: number;
  readonly commit: number;
  readonly n: number;
  readonly of: number;
  readonly ms: number;
  readonly schema: number;
  readonly kind: string;
  readonly id: string;
  readonly op?: StoredPart;
}

/**
 * The session is the record's `instance_id`; the agent is here only when the event is about another agent.
 */
type StoredPart = Omit<CommitPart, 'session_id' | 'agent_id'> & Partial<Pick<CommitPart, 'agent_id'>>;

/** Without its line end. */
export function flatLine(
  row: Unplaced,
  position: number,
  event: EventBody,
  n: number,
  of: number,
  retryable?: Retryable,
): string {
  const { data } = event;
  const agent_id = agentOfEvent(event) ?? row.agent_id;
  const cox: Bookkeeping = {
    v: VERSION,
    commit: position,
    n,
    of,
    ms: row.at_ms,
    schema: row.schema,
    kind: event.kind,
    id: event.id,
    ...(n === 1 ? { op: commitPart(row, agent_id, retryable) } : {}),
  };
  const text = JSON.stringify({
    event_type: event.type,
    timestamp: isoTime(row.at_ms),
    project: row.project,
    feature: textOr(data.feature, undefined),
    edge: textOr(data.edge, undefined),
    agent_id,
    instance_id: row.session_id,
    data,
    cox,
  });
  const body = inOneLine(text.slice(0, -CLOSED));
  return `${body}${CRC}${hex(crc32(body))}${END}`;
}

function commitPart(row: Unplaced, agent_id: string, retryable: Retryable | undefined): StoredPart {
  return {
    operation: row.operation,
    operation_id: row.operation_id,
    agent_type: row.agent_type,
    ...(agent_id === row.agent_id ? {} : { agent_id: row.agent_id }),
    sequence: row.sequence,
    ...(retryable === undefined || retryable.input_digest === ''
      ? {}
      : { input_digest: retryable.input_digest, answer: retryable.answer }),
  };
}

const textOr = <T>(value: unknown, otherwise: T) => (typeof value === 'string' ? value : otherwise);

/** The closing braces of `cox` and of the record, which follow the checksum. */
const CLOSED = 2;
const CRC = ',"crc":"';
const END = '"}}';
const DIGITS = 8;
const TAIL = CRC.length + DIGITS + END.length;

const hex = (sum: number) => sum.toString(16).padStart(DIGITS, '0');

/** JSON allows these unescaped, but some readers split lines at them (Python's `splitlines`). */
const OTHER_LINE_BREAKS = /[\u0085\u2028\u2029]/g;

function inOneLine(text: string): string {
  return text.replace(OTHER_LINE_BREAKS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A line that claims to be ours but can't be accepted. */
export interface Damaged {
  readonly damaged: string;
}

/**
 * Parses a line of ours, or says why it can't be trusted; undefined for a foreign line. `record` is the
 * parsed `line`: the caller needs it for foreign lines too, and parsing is the expensive part.
 */
export function readOwn(record: unknown, line: string | Uint8Array): OwnLine | Damaged | undefined {
  if (!isObject(record) || !isObject(record.cox)) return undefined;
  const { cox } = record;
  if (typeof cox.v === 'number' && cox.v > VERSION)
    return { damaged: `written by a newer Coxswain (version ${cox.v} of the line)` };
  if (!sumHolds(cox.crc, line)) return { damaged: 'its checksum does not fit' };
  if (!isOurs(record)) return { damaged: 'a field is missing or of the wrong kind' };
  const { event_type, project, data } = record;
  const { commit, n, of, ms, schema, kind, id, op } = record.cox;
  const own = { commit, n, of, at_ms: ms, schema, project, event: { kind, id, type: event_type, data } };
  if (op === undefined) return own;
  return { ...own, op: { ...op, agent_id: op.agent_id ?? record.agent_id, session_id: record.instance_id } };
}

/** The checksum has a fixed place, so there is no search; anything else in that place fails the check. */
function sumHolds(crc: unknown, line: string | Uint8Array): boolean {
  if (typeof crc !== 'string' || line.length <= TAIL) return false;
  const body = typeof line === 'string' ? line.slice(0, -TAIL) : line.subarray(0, -TAIL);
  return Number.parseInt(crc, 16) === crc32(body);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Written {
  readonly event_type: string;
  readonly project: string;
  readonly agent_id: string;
  readonly instance_id: string;
  readonly data: JsonObject;
  readonly cox: Bookkeeping;
}

/** The checksum proves that the line is unchanged; this proves that we wrote it. */
function isOurs(record: unknown): record is Written {
  const { event_type, project, agent_id, instance_id, data, cox } = record as Written;
  return (
    typeof event_type === 'string' &&
    typeof project === 'string' &&
    typeof agent_id === 'string' &&
    typeof instance_id === 'string' &&
    isObject(data) &&
    isBookkeeping(cox)
  );
}

function isBookkeeping({ v, commit, n, of, ms, schema, kind, id, op }: Bookkeeping): boolean {
  return (
    v === VERSION &&
    Number.isSafeInteger(commit) &&
    Number.isSafeInteger(n) &&
    Number.isSafeInteger(of) &&
    1 <= n &&
    n <= of &&
    Number.isFinite(ms) &&
    Number.isSafeInteger(schema) &&
    typeof kind === 'string' &&
    typeof id === 'string' &&
    (n === 1 ? isStoredPart(op) : op === undefined)
  );
}

function isStoredPart(op: unknown): boolean {
  if (!isObject(op)) return false;
  const { operation, operation_id, agent_type, agent_id, sequence, input_digest, answer } = op;
  return (
    typeof operation === 'string' &&
    typeof operation_id === 'string' &&
    typeof agent_type === 'string' &&
    (agent_id === undefined || typeof agent_id === 'string') &&
    Number.isSafeInteger(sequence) &&
    (input_digest === undefined ? answer === undefined : typeof input_digest === 'string' && isObject(answer))
  );
}
