import { sha256 } from '../../kernel/hash.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import {
  type ApprovalState,
  approvalEvent,
  approvalId,
  approvalKey,
  noticeEvent,
  requestEvent,
  wanted,
} from '../trust/approvals/index.ts';

export const VERIFICATION_APPROVAL = 'verification';

const DIFF_CHARS_MAX = 100_000;
/** For so long a person is asked. A verification of the change after that asks again. */
export const ASKED_MS = limits.approval_hours_max * 3600 * 1000;

/** What a person is asked about a run, with all that there is to look at. */
export interface VerificationQuestion {
  readonly run_id: string;
  readonly policy: string;
  readonly requested_by: Actor;
  readonly commit_sha: string;
  readonly files: readonly string[];
  readonly summary?: string | undefined;
  readonly diff?: string | undefined;
}

const hashOf = (run_id: string) => sha256(`${VERIFICATION_APPROVAL}\n${run_id}`);

/** The item of the queue that stands for the run. */
export function approvalOf(run_id: string, { agent_id }: Actor): EntityKey {
  return approvalKey(
    approvalId({ kind: VERIFICATION_APPROVAL, requested_by: agent_id, hash: hashOf(run_id) }),
  );
}

/** The events that put the question into the queue of approvals, in the commit that makes the run wait. */
export function askPerson(question: VerificationQuestion): readonly EventBody[] {
  const { run_id, policy, requested_by, commit_sha, files, summary, diff } = question;
  const context: JsonObject = { run_id, commit_sha, files: [...files], summary };
  if (diff !== undefined) context.diff = diff.slice(0, DIFF_CHARS_MAX).toWellFormed();
  const shown = {
    kind: VERIFICATION_APPROVAL,
    operation: policy,
    findings: [],
    subject: `${policy}: commit ${commit_sha.slice(0, 12)}, ${files.length} files`,
    context,
    requested_by: requested_by.agent_id,
    hash: hashOf(run_id),
  };
  const want = wanted(shown, ASKED_MS);
  const { operation, subject } = shown;
  const notice = { about: 'approval' as const, operation, subject, approval_id: want.id };
  return [requestEvent(want, requested_by), noticeEvent(`verification\n${run_id}`, requested_by, notice)];
}

/** The run is decided, and with it the item in the queue, whichever of the two the person was looking at. */
export function settleApproval(
  key: EntityKey,
  loaded: Loaded,
  is_approved: boolean,
  decided_by: string,
  reason: string | undefined,
): readonly EventBody[] {
  const state = loaded.get<ApprovalState>(key)?.state;
  if (state?.status !== 'pending') return [];
  const said = { decided_by, decision_reason: reason };
  if (!is_approved) return [approvalEvent(key.id, 'approval_denied', said)];
  const { requested_by: agent_id, session_id } = state;
  return [
    approvalEvent(key.id, 'approval_approved', said),
    approvalEvent(key.id, 'approval_used', { agent_id, session_id }),
  ];
}
