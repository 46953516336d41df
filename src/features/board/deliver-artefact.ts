import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, need, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import { type ArtefactState, isApproval, type StructuralType } from './artefact.ts';
import { type BoardState, boardKey, boardOf } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  type BoardGrant,
  boardClaimKey,
  grantTo,
  isOutstanding,
} from './board-claim.ts';
import { ClaimDraft, failGrant, takeDelivery } from './board-phases.ts';
import { type NewArtefact, openedAnswer, publication } from './publish-artefact.ts';
import { sendBack } from './rework.ts';
import { type ThreadState, threadKey, threadOf } from './thread.ts';

export interface DeliverArtefact {
  readonly claim_id: string;
  readonly artefact: Omit<NewArtefact, 'structural_type'> & {
    readonly structural_type?: StructuralType | undefined;
  };
  /** The attempt that this is the result of. Default: the current attempt. */
  readonly attempt?: number | undefined;
  readonly by: Actor;
}

/**
 * An agent delivers its part. In one commit the artefact appears, the claim goes on, and what follows from
 * both is opened: whenever a process is killed, either all of it has happened or nothing.
 */
export function deliverArtefact(command: DeliverArtefact): Decision<JsonObject> {
  const key = boardClaimKey(command.claim_id);
  const { agent_id } = command.by;
  return {
    needs: { keys: [key, boardKey] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardClaimState>(key) as BoardClaimRecord | undefined;
      if (record === undefined) return refused(unknownBoardClaim(command.claim_id));
      const grant = grantTo(record.state, agent_id);
      if (grant === undefined) return refused(notGranted(record, agent_id));
      const board = boardOf(loaded.get(boardKey));
      const isAwaited =
        isOutstanding(record.state, agent_id) && (command.attempt ?? grant.attempt) === grant.attempt;
      if (!isAwaited) return keptLate(command, record, grant, board, now_ms);
      const thread = threadKey(record.state.logical_id);
      if (usesThread(record.state) && !loaded.hasKey(thread)) return need({ keys: [thread] });
      const draft = ClaimDraft.of(record, board, now_ms);
      const known = usesThread(record.state) ? loaded.get<ThreadState>(thread) : undefined;
      return accepted(command, grant, draft, threadOf(known, record.state.logical_id));
    },
  };
}

/** A rejection needs the number of rounds so far, and reworked artefacts are new versions. */
function usesThread({ phase, status }: BoardClaimState): boolean {
  return phase === 'review' || status === 'pending_assignment';
}

function accepted(
  command: DeliverArtefact,
  grant: BoardGrant,
  draft: ClaimDraft,
  thread: ThreadState,
): Verdict<JsonObject> {
  const { by, claim_id } = command;
  const { board, now_ms, state: before } = draft;
  const { id } = command.artefact;
  const artefact = contentsOf(command, grant, before);
  const isRework = before.status === 'pending_assignment' && artefact.structural_type !== 'Failure';
  const made = isRework
    ? { ...artefact, logical_id: before.logical_id, version: thread.version + 1 }
    : artefact;
  const published = publication(id, made, board, now_ms);
  const answer: JsonObject = {
    success: true,
    artefact_id: id,
    logical_id: made.logical_id,
    version: made.version,
    late: false,
  };
  const follows: EventBody[] = [];
  if (made.structural_type === 'Failure') failGrant(draft, by.agent_id, id, 'agent_failed');
  else {
    const verdict = verdictOf(grant, made.payload);
    if (takeDelivery(draft, by.agent_id, { artefact_id: id, verdict }) === 'rejected') {
      const back = sendBack(draft, thread, by);
      follows.push(...back.events);
      Object.assign(answer, back.answer);
    }
  }
  const { status, phase } = draft.state;
  Object.assign(answer, { claim: { claim_id, status, phase: phase ?? null } });
  if (published.claim !== undefined) Object.assign(answer, { opened: openedAnswer(published.claim) });
  return commit([...published.events, ...draft.events, ...follows], answer);
}

function contentsOf(
  { artefact, by, claim_id }: DeliverArtefact,
  { phase, role }: BoardGrant,
  claim: BoardClaimState,
): Omit<ArtefactState, 'created_at_ms'> {
  const { id, structural_type = 'Standard', ...contents } = artefact;
  // Whatever type a reviewer gives: what it says about another agent's work is a review.
  const isReview = phase === 'review' && structural_type !== 'Failure';
  return {
    logical_id: id,
    version: 1,
    ...contents,
    structural_type: isReview ? 'Review' : structural_type,
    source_artefacts: [claim.artefact_id, ...claim.additional_context_ids],
    produced_by_role: role,
    produced_by_agent: by.agent_id,
    claim_id,
    phase,
  };
}

function verdictOf({ phase }: BoardGrant, payload: string) {
  if (phase !== 'review') return 'done';
  return isApproval(payload) ? 'approved' : 'feedback';
}

/**
 * The board no longer waits for this delivery. It was work all the same: it is kept, marked as late, and
 * changes nothing.
 */
function keptLate(
  command: DeliverArtefact,
  { state }: BoardClaimRecord,
  grant: BoardGrant,
  board: BoardState,
  now_ms: number,
): Verdict<JsonObject> {
  const { id } = command.artefact;
  const artefact = { ...contentsOf(command, grant, state), late: true as const };
  const { events } = publication(id, artefact, board, now_ms);
  const why =
    grant.delivered === undefined
      ? 'the claim is over or its part was granted anew'
      : 'it had delivered already';
  return commit(events, {
    success: true,
    artefact_id: id,
    logical_id: id,
    version: 1,
    late: true,
    message: `It is kept, but changes nothing: ${why}.`,
    claim: { claim_id: command.claim_id, status: state.status, phase: state.phase ?? null },
  });
}

export function unknownBoardClaim(claim_id: string): Refusal {
  return refuse('unknown_claim', `There is no claim ${claim_id} on the board.`, { claim_id });
}

export function notGranted({ id, state }: BoardClaimRecord, agent_id: string): Refusal {
  const message = `${agent_id} has no part in claim ${id}, which is ${state.status}.`;
  return refuse('not_granted', message, { claim_id: id, status: state.status });
}
