import { isoTime } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type FirstStep, first, type Loaded, refused } from '../../ledger/decision.ts';
import type { EntityKey, EventBody } from '../../ledger/entity.ts';
import { type Caller, type Lease, standing } from '../../ledger/lease.ts';
import { sessionChangesKey } from '../changesets/index.ts';
import { missingProof, proofNeeds } from '../verification/index.ts';
import { keptInFile } from './mirror-work.ts';
import { type TaskRecord, type TaskState, taskEvent, taskKey } from './state.ts';

export interface Completion {
  readonly task_id: string;
  readonly caller: Caller;
  readonly success: boolean;
  readonly result?: Json | undefined;
  readonly error_message?: string | undefined;
  /** The commit that `result` names. */
  readonly commit_sha?: string | undefined;
  /** What was changed has been judged, whether the result or the session reported it. */
  readonly is_judged?: boolean | undefined;
}

/** The session reports changes that have to be judged first. */
const judgeFirst: FirstStep = { step: 'judge_changes' };

function marksOf({ success, is_judged, caller }: Completion): EntityKey[] {
  return success && is_judged !== true ? [sessionChangesKey(caller)] : [];
}

function isUnjudged(completions: readonly Completion[], loaded: Loaded): boolean {
  return completions.flatMap(marksOf).some((key) => loaded.get(key) !== undefined);
}

/**
 * Ends one claim: the grant the caller means, never just the task's id, so that a late worker can't end
 * another agent's attempt.
 */
export function completeWork(completion: Completion): Decision<JsonObject> {
  const proof = proofNeeds(completion);
  return {
    needs: { ...proof, keys: [taskKey(completion.task_id), ...(proof.keys ?? []), ...marksOf(completion)] },
    decide(loaded, now_ms) {
      if (isUnjudged([completion], loaded)) return first(judgeFirst);
      const ended = end(completion, loaded, now_ms);
      if ('refusal' in ended) return refused(ended.refusal);
      return commit([ended.event], ended.answer, ended.not_after_ms);
    },
  };
}

/** Several at once: each item has its own answer, and a refused item does not stop the others. */
export function completeWorkBatch(completions: readonly Completion[]): Decision<JsonObject> {
  const proofs = completions.map(proofNeeds);
  const marks = new Map(completions.flatMap(marksOf).map((key) => [key.id, key]));
  const keys = [...completions.map(({ task_id }) => taskKey(task_id)), ...marks.values()];
  return {
    needs: {
      // All of them need the same rulebook.
      keys: [...keys, ...(proofs.find(({ keys: needed }) => needed !== undefined)?.keys ?? [])],
      ranges: [
        ...new Map(proofs.flatMap(({ ranges = [] }) => ranges).map((range) => [range.from, range])).values(),
      ],
    },
    decide(loaded, now_ms) {
      if (isUnjudged(completions, loaded)) return first(judgeFirst);
      const results: JsonObject[] = [];
      const events: EventBody[] = [];
      let not_after_ms = Number.POSITIVE_INFINITY;
      for (const completion of completions) {
        const ended = end(completion, loaded, now_ms);
        if ('refusal' in ended) {
          results.push({ task_id: completion.task_id, ...ended.refusal });
          continue;
        }
        results.push(ended.answer);
        events.push(ended.event);
        not_after_ms = Math.min(not_after_ms, ended.not_after_ms);
      }
      const completed = events.length;
      const answer = { success: completed === completions.length, completed, results };
      return commit(events, answer, completed === 0 ? undefined : not_after_ms);
    },
  };
}

interface Ended {
  readonly event: EventBody;
  readonly answer: JsonObject;
  readonly not_after_ms: number;
}

function end(completion: Completion, loaded: Loaded, now_ms: number): Ended | { refusal: Refusal } {
  const { task_id, caller } = completion;
  const held = heldBy(task_id, loaded.get<TaskState>(taskKey(task_id)), caller, now_ms);
  if ('refusal' in held) return held;
  const refusal = missingProof(completion, loaded);
  if (refusal !== undefined) return { refusal };
  const status = completion.success ? 'completed' : 'failed';
  const data: JsonObject = { agent_id: caller.agent_id, token: held.lease.token, result: completion.result };
  if (!completion.success) data.error_message = completion.error_message;
  const answer: JsonObject = { success: true, status, task_id };
  if (held.state.has_dependents) answer.has_dependents = true;
  return {
    event: taskEvent(task_id, `task_${status}`, data),
    answer,
    not_after_ms: held.lease.expires_at_ms,
  };
}

/** The task if the caller holds it now, else why not. */
export function heldBy(
  task_id: string,
  task: TaskRecord | undefined,
  caller: Caller,
  now_ms: number,
): { refusal: Refusal } | { lease: Lease; state: TaskState; record: TaskRecord } {
  if (task === undefined) return { refusal: unknownTask(task_id) };
  const { state } = task;
  const filed = keptInFile(task_id, state);
  if (filed !== undefined) return { refusal: filed };
  if (state.status !== 'claimed') {
    const message = `Task ${task_id} is ${state.status}; you do not hold it.`;
    return { refusal: refuse('not_held', message, { task_id, status: state.status }) };
  }
  const current = standing(state.lease, caller, now_ms);
  switch (current.standing) {
    case 'mine':
      return { lease: current.lease, state, record: task };
    case 'free': {
      const when = isoTime(current.lapsed?.expires_at_ms ?? 0);
      return {
        refusal: refuse('lease_expired', `The claim on task ${task_id} ran out at ${when}.`, { task_id }),
      };
    }
    case 'superseded': {
      const message = `Grant ${caller.token} of task ${task_id} is over; ${current.lease.agent_id} holds grant ${current.lease.token}.`;
      return { refusal: refuse('superseded', message, { task_id, claimed_by: current.lease.agent_id }) };
    }
    case 'taken': {
      const message = `Task ${task_id} is claimed by ${current.lease.agent_id}.`;
      return { refusal: refuse('not_holder', message, { task_id, claimed_by: current.lease.agent_id }) };
    }
  }
}

export function unknownTask(task_id: string): Refusal {
  return refuse('unknown_task', `There is no task ${task_id}.`, { field: 'task_id', task_id });
}
