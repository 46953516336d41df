import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { nameProblem, reservedProblem } from '../../kernel/names.ts';
import type { Request } from '../../ledger/log.ts';

/**
 * The call behind a proposal that `cox` itself left in the inbox: the id under which its answer is known, and
 * its number in the session. What it asks for is in the proposal's normal fields. Any program may write such
 * a file. So nothing in it counts as decided or permitted, or as another agent's; and its session counts only
 * if it is known.
 */
export interface LeftCall {
  readonly project: string;
  readonly agent_type: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly operation_id: string;
  readonly input_digest: string;
}

export function leftCall({ project, actor, sequence, operation_id, input_digest }: Request): JsonObject {
  return { request: { project, actor: { ...actor }, sequence, operation_id, input_digest } };
}

/** Undefined: the proposal is not a left call. */
export function readLeftCall(cox: JsonObject): LeftCall | undefined {
  const { request } = cox;
  if (!isObject(request) || !isObject(request.actor)) return undefined;
  const { project, actor, sequence, operation_id, input_digest } = request;
  const { agent_type, session_id } = actor;
  const names = [project, agent_type, session_id];
  if (!names.every((name) => nameProblem(name) === undefined)) return undefined;
  if (reservedProblem('agent_type', String(agent_type)) !== undefined) return undefined;
  if (!isShort(operation_id) || !isShort(input_digest) || !Number.isSafeInteger(sequence)) return undefined;
  return { project, agent_type, session_id, sequence, operation_id, input_digest } as LeftCall;
}

function isShort(text: unknown): boolean {
  return typeof text === 'string' && text.length <= limits.operation_id_chars_max;
}
