import type { JsonObject } from '../../kernel/json.ts';
import type { Loaded, Needs, Range } from '../../ledger/decision.ts';
import { type ApprovalState, approvalRanges, statusAt } from '../trust/approvals/index.ts';
import { type BoardClaimRecord, boardClaimKey, isOpen } from './board-claim.ts';
import { REWORK_APPROVAL, reworkIdOf } from './rework.ts';
import { type ThreadState, threadKey } from './thread.ts';

/**
 * What became of a claim. A rejection alone is not a bad end: the work goes back to its author, is replaced
 * by a newer version, or waits for a person's decision.
 */
export type Fate =
  | { readonly fate: 'open' | 'complete' | 'sent_back' | 'failed' }
  | { readonly fate: 'waits_for_person'; readonly approval_id: string };

const pending = approvalRanges({ status: 'pending' });

/**
 * What is needed besides the claims. All of it comes from the same read as the claims: what happens later is
 * not part of their end.
 */
export function fateNeeds(
  claims: readonly { readonly id: string; readonly logical_id: string }[],
): Required<Needs> {
  const keys = claims.flatMap(({ id, logical_id }) => [boardClaimKey(reworkIdOf(id)), threadKey(logical_id)]);
  return { keys, ranges: pending };
}

export function fateOf({ id, state }: BoardClaimRecord, loaded: Loaded, now_ms: number): Fate {
  if (isOpen(state)) return { fate: 'open' };
  if (state.status === 'complete') return { fate: 'complete' };
  if (state.termination_reason !== 'review_rejected') return { fate: 'failed' };
  const approval_id = approvalFor(id, loaded, now_ms);
  if (approval_id !== undefined) return { fate: 'waits_for_person', approval_id };
  const thread = loaded.get<ThreadState>(threadKey(state.logical_id))?.state;
  const overtaken = thread !== undefined && thread.artefact_id !== state.artefact_id;
  const hasRework = loaded.get(boardClaimKey(reworkIdOf(id))) !== undefined;
  return { fate: hasRework || overtaken ? 'sent_back' : 'failed' };
}

function approvalFor(claim_id: string, loaded: Loaded, now_ms: number): string | undefined {
  return reworkApprovals(pending, loaded).find(
    ({ state }) => state.context.claim_id === claim_id && statusAt(state, now_ms) === 'pending',
  )?.id;
}

/** What people were or are asked about work that was sent back too often. */
export function reworkApprovals(ranges: readonly Range[], loaded: Loaded) {
  return ranges
    .flatMap((range) => loaded.list<ApprovalState>(range))
    .filter(({ state }) => state.kind === REWORK_APPROVAL);
}

/** One entry for each claim that a person has to decide about, with the command for it. */
export function awaitedDecisions(loaded: Loaded, now_ms: number): JsonObject[] {
  return reworkApprovals(pending, loaded)
    .filter(({ state }) => statusAt(state, now_ms) === 'pending')
    .map(({ id, state }) => ({
      approval_id: id,
      claim_id: state.context.claim_id,
      artefact_id: state.context.artefact_id,
      subject: state.subject,
      command: `cox approve ${id}`,
    }));
}
