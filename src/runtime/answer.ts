import type { JsonObject } from '../kernel/json.ts';
import { type Refusal, type RefusalCode, refuse, StoreFailure } from '../kernel/refusal.ts';

/**
 * The classes of answers a door tells apart. `refused` is an answer to a good question (a lock is held); `input` is a
 * question to put right; `waiting` is for a person to decide; `forbidden` is one that only others may ask; `store` and `fault` are no answer at all.
 */
export type AnswerVerdict = 'done' | 'refused' | 'waiting' | 'input' | 'forbidden' | 'store' | 'fault';

const VERDICTS: Partial<Record<RefusalCode, AnswerVerdict>> = {
  invalid_input: 'input',
  unknown_operation: 'input',
  path_invalid: 'input',
  path_too_long: 'input',
  path_outside_repository: 'input',
  path_is_root: 'input',
  path_in_git_dir: 'input',
  path_symlink_loop: 'input',
  path_unreadable: 'input',
  logical_key_invalid: 'input',
  too_large: 'input',
  guardrails_invalid: 'input',
  config_unusable: 'input',
  profiles_invalid: 'input',
  state_unavailable: 'store',
  forbidden: 'forbidden',
  person_required: 'forbidden',
  destructive_operation_blocked: 'waiting',
  credential_file_protected: 'waiting',
  convergence_escalated: 'waiting',
  approval_required: 'waiting',
  pending: 'waiting',
  database_unavailable: 'store',
  store_damaged: 'store',
  store_moved: 'store',
  store_unsupported: 'store',
  store_unusable: 'store',
  disk_full: 'store',
  upgrade_required: 'store',
  internal_error: 'fault',
};

export function verdictOf(answer: JsonObject): AnswerVerdict {
  if (answer.success !== false) return answer.waiting_for_person === true ? 'waiting' : 'done';
  // Most codes travel as `error`, those of some seeds as `action`.
  const code = [answer.error, answer.action].find((value) => typeof value === 'string');
  if (typeof code !== 'string' || !Object.hasOwn(VERDICTS, code)) return 'refused';
  return VERDICTS[code as RefusalCode] ?? 'refused';
}

export const EXIT_CODES: Record<AnswerVerdict, number> = {
  done: 0,
  refused: 1,
  waiting: 3,
  input: 2,
  forbidden: 1,
  store: 4,
  fault: 1,
};

export const HTTP_STATUS: Record<AnswerVerdict, number> = {
  done: 200,
  refused: 200,
  waiting: 200,
  input: 422,
  forbidden: 403,
  store: 503,
  fault: 500,
};

/** What was to be said could not be written. It is no fault of ours, and no answer: that could not be written either. */
export class OutputFailure extends Error {
  constructor(cause: Error) {
    super(`The output could not be written: ${cause.message}`, { cause });
    this.name = 'OutputFailure';
  }
}

/**
 * What was thrown where no coordinator could turn it into an answer, such as while opening the store. An output that fails is
 * thrown on, up to `main`, which says so in one line.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof OutputFailure) throw error;
  if (error instanceof StoreFailure) return error.refusal;
  return refuse('internal_error', error instanceof Error ? error.message : String(error));
}

export function invalid(field: string, expected: string): Refusal {
  return refuse('invalid_input', `${field}: expected ${expected}`, { field, expected });
}
