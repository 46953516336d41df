import { sha256 } from '../../kernel/hash.ts';
import { uuidFromKey } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { commit, type Decision, need } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import {
  type ApprovalState,
  conclusionOf,
  noticeEvent,
  type PersonsDecision,
  requestEvent,
  wanted,
} from '../trust/approvals/index.ts';
import { type BoardState, boardKey, boardOf, memberOf } from './board.ts';
import { type BoardClaimRecord, type BoardClaimState, boardClaimKey } from './board-claim.ts';
import { assignRework, type ClaimDraft, feedbackIn } from './board-phases.ts';
import { failureOf } from './publish-artefact.ts';
import { roundGranted, sentBack, type ThreadState, threadKey, threadOf } from './thread.ts';

export const REWORK_APPROVAL = 'rework';

const ASKED_MS = limits.approval_hours_max * 3600 * 1000;

interface SentBack {
  readonly events: readonly EventBody[];
  readonly answer: JsonObject;
}

/** A claim was rejected: its artefact goes back to its author, with the reviews, as long as there are rounds left. */
export function sendBack(rejected: ClaimDraft, thread: ThreadState, by: Actor): SentBack {
  const { id: claim_id, board, state } = rejected;
  // There is already a newer version, so the feedback on this one no longer applies.
  if (thread.artefact_id !== state.artefact_id) return { events: [], answer: { rework: 'superseded' } };
  const author = authorOf(state, board);
  if (author === undefined) return authorGone(claim_id, state);
  const { max_review_iterations: most } = board.settings;
  if (most > 0 && thread.reworks >= most + thread.granted) return askPerson(rejected, author, thread, by);
  return assigned(rejected, author);
}

type Rejected = Pick<ClaimDraft, 'id' | 'state' | 'board' | 'now_ms'>;

function assigned({ id, state, board, now_ms }: Rejected, author: string): SentBack {
  const { artefact_id, artefact_type, logical_id, produced_by_agent, produced_by_role } = state;
  const about = { artefact_id, artefact_type, logical_id, produced_by_agent, produced_by_role };
  const claim = assignRework(reworkIdOf(id), about, author, feedbackIn(state), board, now_ms);
  return {
    events: [sentBack(state.logical_id, claim.id), ...claim.events],
    answer: { rework: 'assigned', rework_claim_id: claim.id, author },
  };
}

/** One rework for one rejection. */
export function reworkIdOf(claim_id: string): string {
  return uuidFromKey(`board rework\0${claim_id}`);
}

/** The author itself, or the agent that has its role now. */
function authorOf(state: BoardClaimState, board: BoardState): string | undefined {
  const { produced_by_agent, produced_by_role } = state;
  if (memberOf(board, produced_by_agent) !== undefined) return produced_by_agent;
  return board.members.find(({ role }) => role === produced_by_role)?.agent_id;
}

function authorGone(claim_id: string, state: BoardClaimState): SentBack {
  const { produced_by_agent, produced_by_role, artefact_id } = state;
  const reviews = feedbackIn(state);
  const summary = `${produced_by_agent} (${produced_by_role}) is not on the board, so nobody can take back what it made.`;
  const { id, event } = failureOf(
    {
      type: 'MissingAgentConfiguration',
      payload: { reason: summary, artefact_id, produced_by_agent, produced_by_role, reviews },
      summary,
      key: `author\0${claim_id}`,
    },
    [artefact_id, ...reviews],
    claim_id,
  );
  return { events: [event], answer: { rework: 'author_missing', failure_id: id } };
}

/** The rounds are used up: the work stops here, unless a person grants another round. */
function askPerson(rejected: ClaimDraft, author: string, thread: ThreadState, by: Actor): SentBack {
  const { id: claim_id, state } = rejected;
  const { artefact_id, artefact_type } = state;
  const reviews = feedbackIn(state);
  const summary = `${artefact_type} by ${author} was sent back ${thread.reworks === 1 ? 'once' : `${thread.reworks} times`} and is still not approved.`;
  const context = { claim_id, artefact_id, rounds: thread.reworks, reviews };
  const { id, event } = failureOf(
    {
      type: 'MaxIterationsExceeded',
      payload: { reason: summary, ...context },
      summary,
      key: `rounds\0${claim_id}`,
    },
    [artefact_id, ...reviews],
    claim_id,
  );
  const shown = {
    kind: REWORK_APPROVAL,
    operation: 'another_rework',
    findings: [],
    subject: `${summary} One more round?`,
    context: { ...context, author },
    requested_by: author,
    hash: sha256(`${REWORK_APPROVAL}\n${claim_id}`),
  };
  const want = wanted(shown, ASKED_MS);
  const { operation, subject } = shown;
  const notice = { about: 'approval' as const, operation, subject, approval_id: want.id };
  return {
    events: [event, requestEvent(want, by), noticeEvent(`${REWORK_APPROVAL}\n${want.id}`, by, notice)],
    answer: { rework: 'person_asked', failure_id: id, approval_id: want.id },
  };
}

/**
 * Applies a person's decision about another round: the item of the queue is decided and the work assigned, in
 * one commit.
 */
export function decideRework(approval: ApprovalState, decided: PersonsDecision): Decision<JsonObject> {
  const claim_id = approval.context.claim_id as string;
  const key = boardClaimKey(claim_id);
  return {
    needs: { keys: [key, boardKey] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardClaimState>(key) as BoardClaimRecord | undefined;
      const queue = conclusionOf(approval, decided);
      const until_ms = approval.expires_at_ms;
      if (record === undefined || decided.verdict === 'denied')
        return commit(queue, { success: true, status: 'left', claim_id }, until_ms);
      const thread_key = threadKey(record.state.logical_id);
      if (!loaded.hasKey(thread_key)) return need({ keys: [thread_key] });
      const { id, state } = record;
      const board = boardOf(loaded.get(boardKey));
      const author = authorOf(state, board);
      const thread = threadOf(loaded.get(thread_key), state.logical_id);
      if (thread.artefact_id !== state.artefact_id)
        return commit(queue, { success: true, status: 'superseded', claim_id }, until_ms);
      if (author === undefined) {
        const { events, answer } = authorGone(id, state);
        return commit(
          [...queue, ...events],
          { success: true, status: 'author_missing', claim_id, ...answer },
          until_ms,
        );
      }
      const granted = roundGranted(state.logical_id, decided.decided_by);
      const { events, answer } = assigned({ id, state, board, now_ms }, author);
      return commit(
        [...queue, granted, ...events],
        { success: true, status: 'assigned', claim_id, ...answer },
        until_ms,
      );
    },
  };
}
