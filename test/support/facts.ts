import { lockEvent } from '../../src/features/locks/state.ts';
import { type FailurePolicy, taskEvent } from '../../src/features/queue/state.ts';
import type { NewTask } from '../../src/features/queue/submit-work.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Caller, Lease } from '../../src/ledger/lease.ts';
import { type Fact, fact, MINUTE_MS, NOON_MS } from './decider-spec.ts';

export const anna: Caller = { agent_id: 'anna', agent_type: 'claude_code', session_id: 'anna-1' };
export const annaAgain: Caller = { ...anna, session_id: 'anna-2' };
export const bert: Caller = { agent_id: 'bert', agent_type: 'codex', session_id: 'bert-1' };

export function lease(caller: Caller, at_ms: number, ttl_ms: number, token = at_ms): Lease {
  const { agent_id, agent_type, session_id } = caller;
  return { agent_id, agent_type, session_id, token, granted_at_ms: at_ms, expires_at_ms: at_ms + ttl_ms };
}

/** The caller locked it at noon, for ten minutes unless said otherwise. */
export function locked(
  path: string,
  caller: Caller,
  options: { at_ms?: number; ttl_ms?: number; reason?: string } = {},
): Fact {
  const { at_ms = NOON_MS, ttl_ms = 10 * MINUTE_MS, reason } = options;
  return fact(
    at_ms,
    lockEvent(path, 'lock_acquired', { lease: { ...lease(caller, at_ms, ttl_ms) }, reason }),
  );
}

/** A task as the wire's defaults make it. */
export function newTask(id: string, options: Partial<NewTask> = {}): NewTask {
  return {
    id,
    keyed: false,
    task_type: 'test',
    description: `do ${id}`,
    priority: 5,
    files: [],
    depends_on: [],
    max_attempts: 3,
    ...options,
  };
}

export interface TaskFacts {
  readonly at_ms?: number;
  readonly task_type?: string;
  readonly priority?: number;
  readonly files?: string[];
  readonly depends_on?: string[];
  readonly unmet?: string[];
  readonly on_dependency_failure?: FailurePolicy;
  readonly not_before_ms?: number;
  readonly max_attempts?: number;
  readonly has_dependents?: boolean;
}

/** Submitted an hour before noon unless said otherwise. */
export function submitted(id: string, options: TaskFacts = {}): Fact {
  const { at_ms = NOON_MS - 60 * MINUTE_MS, depends_on = [], unmet = depends_on, ...rest } = options;
  const data: JsonObject = {
    task_type: 'test',
    description: `do ${id}`,
    priority: 5,
    files: [],
    failed_dependencies: [],
    max_attempts: 3,
    attempt_count: 0,
    submitted_by: 'carl',
    created_at_ms: at_ms,
    has_dependents: false,
    releasing: false,
    depends_on,
    unmet,
    ...rest,
  };
  return fact(at_ms, taskEvent(id, 'task_submitted', data));
}

/** The caller got it at noon, for thirty minutes unless said otherwise. */
export function claimed(id: string, caller: Caller, options: { at_ms?: number; ttl_ms?: number } = {}): Fact {
  const { at_ms = NOON_MS, ttl_ms = 30 * MINUTE_MS } = options;
  return fact(at_ms, taskEvent(id, 'task_claimed', { lease: { ...lease(caller, at_ms, ttl_ms) } }));
}

export function happened(id: string, type: string, data: JsonObject = {}, at_ms = NOON_MS): Fact {
  return fact(at_ms, taskEvent(id, type, data));
}
