import type { JsonObject } from '../kernel/json.ts';
import type { EventBody } from './entity.ts';

/**
 * Raised when stored events change or new ones are added; golden logs of every number are kept and replayed.
 */
export const EVENT_SCHEMA = 7;

export interface Actor {
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
}

/** One session of one agent. */
export interface SessionName {
  readonly agent_id: string;
  readonly session_id: string;
}

/** Coxswain's own commits (promoting delayed tasks, releasing dependents) act under this name. */
export const HOUSEKEEPER: Actor = { agent_id: 'coxswain', agent_type: 'system', session_id: 'coxswain' };

/**
 * One request on its way to a commit: the agent, what it asks for, and the id by which a retry is recognised.
 */
export interface Request {
  readonly project: string;
  readonly actor: Actor;
  /** The row's number in its session: a gap shows that a row is missing. */
  readonly sequence: number;
  readonly operation: string;
  readonly parameters: JsonObject;
  readonly operation_id: string;
  /** Empty: the id was made for this call alone, so no other call has used it or will. */
  readonly input_digest: string;
  /** Monotonic time at which the request arrived. */
  readonly started_ms: number;
}

/**
 * A row of the log: one commit with its events, and at the same time the audit row of its operation. Reads
 * and refusals are rows without events.
 */
export interface LogEntry {
  readonly position: number;
  readonly schema: number;
  readonly project: string;
  readonly at_ms: number;
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly operation: string;
  readonly operation_id: string;
  readonly parameters: JsonObject;
  readonly result: JsonObject;
  readonly duration_ms: number;
  readonly events: readonly EventBody[];
  /** The `born` of the records it created, in a store that numbers its rows only afterwards. */
  readonly born?: number | undefined;
  /** Records that it created again although the log has older ones: the store had swept those away. */
  readonly anew?: readonly string[] | undefined;
}

/**
 * The agent that an event is about. It may be another one than the caller: alone and without a name, an agent is
 * `primary`, whatever its process is called. Other implementations read it at the top level of the event.
 */
export function agentOfEvent({ data }: EventBody): string | undefined {
  const named = [data.agent_id, data.granted_to].find((name) => typeof name === 'string' && name !== '');
  return named as string | undefined;
}

export type Unplaced = Omit<LogEntry, 'position'>;

export function logRow(
  request: Request,
  result: JsonObject,
  events: readonly EventBody[],
  at_ms: number,
  elapsed_ms: number,
): Unplaced {
  return {
    schema: EVENT_SCHEMA,
    project: request.project,
    at_ms,
    ...request.actor,
    sequence: request.sequence,
    operation: request.operation,
    operation_id: request.operation_id,
    parameters: request.parameters,
    result,
    duration_ms: Math.round((elapsed_ms - request.started_ms) * 1000) / 1000,
    events,
  };
}
