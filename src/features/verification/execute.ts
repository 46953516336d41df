import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, need, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type Caller, grant, type Lease, renew } from '../../ledger/lease.ts';
import { approvalOf, settleApproval } from './verification-approval.ts';
import type { ExecutorName, VerificationPolicy } from './verification-policy.ts';
import {
  describeRun,
  type External,
  FINAL,
  type RunRecord,
  type RunResult,
  type RunState,
  runEvent,
  runKey,
  takeable,
} from './verification-run.ts';

/** A decision about one run that is there. */
function about(
  run_id: string,
  decide: (record: RunRecord, now_ms: number, loaded: Loaded) => Verdict<JsonObject>,
): Decision<JsonObject> {
  const key = runKey(run_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<RunState>(key);
      if (record === undefined) return refused(unknownRun(run_id));
      return decide(record, now_ms, loaded);
    },
  };
}

export interface Start {
  readonly run_id: string;
  readonly caller: Caller;
  readonly executor: ExecutorName;
  readonly ttl_ms: number;
  /** Hash of the secret that a report of the result from elsewhere has to show. */
  readonly secret_hash?: string | undefined;
}

/** Takes a run that waits, or one whose runner is dead. Of two at once one gets it. */
export function startRun({ run_id, caller, executor, ttl_ms, secret_hash }: Start): Decision<JsonObject> {
  return about(run_id, (record, now_ms) => {
    const { state } = record;
    if (!takeable(state, now_ms)) return refused(notNow(record));
    if (state.external !== undefined && state.status === 'running')
      return finished(record, { status: 'timed_out', error_message: 'No result came back in time.' });
    if (state.attempts >= limits.verification_attempts_max) {
      const error_message = `Given up: ${state.attempts} runners died with it.`;
      return finished(record, { status: 'error', error_message });
    }
    const lease = grant(record, caller, ttl_ms, now_ms);
    const event = runEvent(run_id, 'verification_started', { lease, executor, secret_hash });
    return commit([event], { success: true, started: true, run_id, fencing_token: lease.token });
  });
}

/** The runner lives; or it is told that another one has taken over, and stops. */
export function renewRun(run_id: string, caller: Caller, ttl_ms: number): Decision<JsonObject> {
  return about(run_id, (record, now_ms) => {
    const held = heldBy(record, caller);
    if ('refusal' in held) return refused(held.refusal);
    const lease = renew(record, held.lease, caller, ttl_ms, now_ms);
    return commit([runEvent(run_id, 'verification_renewed', { lease })], { success: true });
  });
}

/** Handed over to a service that reports later; no other runner takes it before its time is over. */
export function dispatchRun(
  run_id: string,
  caller: Caller,
  external: External,
  ttl_ms: number,
): Decision<JsonObject> {
  return about(run_id, (record, now_ms) => {
    const held = heldBy(record, caller);
    if ('refusal' in held) return refused(held.refusal);
    const lease = renew(record, held.lease, caller, ttl_ms, now_ms);
    const event = runEvent(run_id, 'verification_dispatched', { lease, external });
    return commit([event], { success: true, run_id, status: 'running' });
  });
}

/** The result of the attempt that the caller's token means; an attempt that was taken over has none. */
export function finishRun(run_id: string, caller: Caller, result: RunResult): Decision<JsonObject> {
  return about(run_id, (record) => {
    const held = heldBy(record, caller);
    return 'refusal' in held ? refused(held.refusal) : finished(record, result);
  });
}

/** The result from elsewhere, by a caller that knows the run's secret. A second report changes nothing. */
export function recordRun(run_id: string, secret_hash: string, result: RunResult): Decision<JsonObject> {
  return about(run_id, (record) => {
    const { state } = record;
    // Compared as hashes of 256 random bits: how long it takes says nothing about the secret.
    const isIts = state.secret_hash !== undefined && state.secret_hash === secret_hash;
    if (state.status === 'running' && isIts) return finished(record, result);
    return refused(refuse('forbidden', `The secret is not the one of run ${run_id}, or it is over.`));
  });
}

/** Started by hand or by us, on a branch. The starter chooses the branch, and with it which version of the workflow runs. */
export interface Dispatched {
  readonly branch: string;
  readonly default_branch: string;
}

export interface RemoteOutcome {
  readonly repository: string;
  /** The file's name in .github/workflows. */
  readonly workflow: string;
  readonly head_sha: string;
  /** Undefined: a push has started it. */
  readonly dispatched?: Dispatched | undefined;
  readonly result: RunResult;
}

/**
 * What GitHub says about a run that was handed to it, or that a push of the same commit started by itself. The run's own record
 * says which workflow of which repository may speak for it.
 */
export function concludeRemote(run_id: string, outcome: RemoteOutcome): Decision<JsonObject> {
  return about(run_id, (record) => {
    const { policy, external, commit_sha, status } = record.state;
    const isMeant =
      policy.executor === 'github' &&
      policy.workflow === outcome.workflow &&
      isFromItsBranch(policy, outcome.dispatched) &&
      (external === undefined ? commit_sha === outcome.head_sha : external.repository === outcome.repository);
    if (!isMeant || FINAL.has(status) || status === 'waiting_for_person' || status === 'skipped')
      return refused(notNow(record));
    return finished(record, { ...outcome.result, executor: 'github' });
  });
}

/** The examination as it is on the policy's branch: on a branch of its own a change could have rewritten it. */
function isFromItsBranch({ ref }: VerificationPolicy, dispatched: Dispatched | undefined): boolean {
  if (dispatched === undefined) return true;
  const { branch, default_branch } = dispatched;
  return branch !== '' && branch === (ref === undefined ? default_branch : branchNamed(ref));
}

/** GitHub takes `refs/heads/main` as well, and calls it `main` afterwards. */
export function branchNamed(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags)\//, '');
}

/** A person's word: the result of what only a person decides, or leave to run what asks for it. */
export function decideRun(
  run_id: string,
  is_approved: boolean,
  decided_by: string,
  reason: string | undefined,
): Decision<JsonObject> {
  return about(run_id, (record, _now_ms, loaded) => {
    const { state } = record;
    if (state.status !== 'waiting_for_person') return refused(notNow(record));
    const asked = approvalOf(run_id, state.author);
    if (!loaded.hasKey(asked)) return need({ keys: [asked] });
    const settled = settleApproval(asked, loaded, is_approved, decided_by, reason);
    if (is_approved && state.policy.executor !== 'human') {
      const event = runEvent(run_id, 'verification_approved', { decided_by, reason });
      return commit([event, ...settled], { success: true, run_id, status: 'queued' });
    }
    const said = is_approved ? { output: reason } : { error_message: reason ?? 'Refused.' };
    const result: RunResult = { status: is_approved ? 'passed' : 'failed', executor: 'human', ...said };
    return finished(record, result, decided_by, settled);
  });
}

function finished(
  { id, state }: RunRecord,
  result: RunResult,
  decided_by?: string,
  more: readonly EventBody[] = [],
): Verdict<JsonObject> {
  const data = { ...result, ...(decided_by === undefined ? {} : { decided_by }) };
  const { queued_at: _, ...rest } = describeRun(id, { ...state, ...data, lease: undefined });
  return commit([runEvent(id, 'verification_finished', data), ...more], { success: true, ...rest });
}

function heldBy({ id, state }: RunRecord, { token }: Caller): { lease: Lease } | { refusal: Refusal } {
  const { lease, status } = state;
  if (status === 'running' && lease !== undefined && lease.token === token) return { lease };
  const message = `Another runner has taken over ${id}, or it is over.`;
  return { refusal: refuse('superseded', message, { run_id: id, status }) };
}

function notNow({ id, state }: RunRecord): Refusal {
  const { status, lease } = state;
  const by = status === 'running' && lease !== undefined ? ` by ${lease.agent_id}` : '';
  return refuse('wrong_status', `Run ${id} is ${status}${by}.`, { run_id: id, status });
}

function unknownRun(run_id: string): Refusal {
  return refuse('unknown_run', `There is no run ${run_id}.`, { field: 'run_id', run_id });
}
