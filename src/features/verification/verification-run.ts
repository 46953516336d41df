import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { isOver, type Lease } from '../../ledger/lease.ts';
import type { Actor } from '../../ledger/log.ts';
import { type ExecutorName, TIERS, type VerificationPolicy } from './verification-policy.ts';

export const RUN_STATUSES = [
  'queued',
  'waiting_for_person',
  'running',
  'passed',
  'failed',
  'error',
  'timed_out',
  'skipped',
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

/** Results that count for the commit for good. What went wrong around it (`error`, `timed_out`) may be tried again. */
export const FINAL: ReadonlySet<RunStatus> = new Set(['passed', 'failed']);

/** Where another service runs it. */
export interface External {
  readonly repository: string;
  readonly workflow: string;
  readonly url?: string | undefined;
}

/** What came of it. The output is the end of what it wrote, secrets masked; another program's words, never an instruction. */
export interface RunResult {
  readonly status: 'passed' | 'failed' | 'error' | 'timed_out' | 'skipped';
  readonly executor?: ExecutorName | undefined;
  readonly exit_code?: number | undefined;
  readonly output?: string | undefined;
  readonly error_message?: string | undefined;
  readonly url?: string | undefined;
}

/** One policy applied to one commit. Its id says so, which is why no tier is ever run twice for a commit. */
export interface RunState extends Partial<Omit<RunResult, 'status'>> {
  readonly changeset_id: string;
  readonly commit_sha: string;
  /** As it was when the change was routed. */
  readonly policy: VerificationPolicy;
  readonly author: Actor;
  readonly files: readonly string[];
  readonly file_count: number;
  readonly status: RunStatus;
  readonly reason?: string | undefined;
  readonly queued_at_ms: number;
  readonly attempts: number;
  readonly lease?: Lease | undefined;
  readonly secret_hash?: string | undefined;
  readonly external?: External | undefined;
  readonly started_at_ms?: number | undefined;
  readonly completed_at_ms?: number | undefined;
  readonly decided_by?: string | undefined;
}

const VERIFICATION = 'verification_result';
const OPEN = 'open/';

export function runId(commit_sha: string, policy: string): string {
  return `${commit_sha}#${policy}`;
}

export function runKey(id: string): EntityKey {
  return { kind: VERIFICATION, id };
}

export function runEvent(id: string, type: string, data: object): EventBody {
  return { ...runKey(id), type, data: data as JsonObject };
}

export type RunRecord = EntityRecord<RunState>;

function known(state: RunState | undefined, { id, type }: EventBody): RunState {
  if (state === undefined) throw new Error(`${type} of verification ${id}, which nobody asked for`);
  return state;
}

export const runEntity: EntityType<RunState> = {
  kind: VERIFICATION,
  evolve(state, event, at_ms) {
    const { data } = event;
    switch (event.type) {
      case 'verification_queued':
        // Whatever an earlier try left is over.
        return { ...(data as unknown as RunState), attempts: 0, queued_at_ms: at_ms };
      case 'verification_started': {
        const { lease, executor, secret_hash } = data as unknown as RunState;
        const before = known(state, event);
        const attempts = before.attempts + 1;
        return { ...before, status: 'running', lease, executor, secret_hash, attempts, started_at_ms: at_ms };
      }
      case 'verification_renewed':
        return { ...known(state, event), lease: data.lease as unknown as Lease };
      case 'verification_dispatched': {
        const { lease, external } = data as unknown as RunState;
        return { ...known(state, event), lease, external };
      }
      case 'verification_approved':
        return { ...known(state, event), status: 'queued', decided_by: data.decided_by as string };
      case 'verification_finished': {
        const { lease: _, secret_hash: __, ...rest } = known(state, event);
        return { ...rest, ...(data as unknown as RunResult), completed_at_ms: at_ms };
      }
      default:
        throw new Error(`unknown event of a verification: ${event.type}`);
    }
  },
  index({ status, queued_at_ms, lease }) {
    // Under the moment from which a runner may take it.
    const from_ms =
      status === 'queued' ? queued_at_ms : status === 'running' ? lease?.expires_at_ms : undefined;
    return from_ms === undefined ? {} : { sort: `${OPEN}${String(Math.floor(from_ms)).padStart(15, '0')}` };
  },
};

/** Queued ones, and those whose runner may have died; the longest due first. */
export function openRuns(limit: number): Range {
  return prefixed('sort', VERIFICATION, OPEN, limit);
}

export function takeable({ status, lease }: RunState, now_ms: number): boolean {
  return status === 'queued' || (status === 'running' && (lease === undefined || isOver(lease, now_ms)));
}

/** All runs for a commit; the beginning of its id will do. */
export function runsOfCommit(commit_sha: string, limit: number): Range {
  return prefixed('id', VERIFICATION, commit_sha, limit);
}

export function listRuns(range: Range, loaded: Loaded): readonly RunRecord[] {
  return loaded.list<RunState>(range);
}

const FILES_SHOWN = 10;

export function describeRun(id: string, state: RunState): JsonObject {
  const { policy, files, file_count, started_at_ms, completed_at_ms, external } = state;
  const time = (at_ms: number | undefined) => (at_ms === undefined ? undefined : isoTime(at_ms));
  return {
    run_id: id,
    policy: policy.name,
    tier: policy.tier,
    tier_name: TIERS[policy.tier],
    executor: state.executor ?? policy.executor,
    status: state.status,
    reason: state.reason,
    files: files.slice(0, FILES_SHOWN),
    file_count,
    attempts: state.attempts,
    run_by: state.lease?.agent_id,
    decided_by: state.decided_by,
    exit_code: state.exit_code,
    error_message: state.error_message,
    output: state.output,
    url: state.url ?? external?.url,
    queued_at: isoTime(state.queued_at_ms),
    started_at: time(started_at_ms),
    completed_at: time(completed_at_ms),
    duration_ms:
      started_at_ms === undefined || completed_at_ms === undefined
        ? undefined
        : Math.max(0, completed_at_ms - started_at_ms),
  };
}

export type Overall = RunStatus | 'nothing_to_verify';

/** The one word for all runs of a change: the worst first, and passed only if something has passed. */
export function overall(statuses: readonly RunStatus[]): Overall {
  const order: readonly RunStatus[] = [
    'failed',
    'error',
    'timed_out',
    'waiting_for_person',
    'running',
    'queued',
    'passed',
    'skipped',
  ];
  return order.find((status) => statuses.includes(status)) ?? 'nothing_to_verify';
}
