import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { boardKey, boardOf } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  boardClaimKey,
  grantTo,
  isOpen,
  isOutstanding,
  outstanding,
} from './board-claim.ts';
import { ClaimDraft, closeBids, failGrant, followRoster } from './board-phases.ts';
import { unknownBoardClaim } from './deliver-artefact.ts';
import { failureOf } from './publish-artefact.ts';

/** Each failure is an artefact, and a commit has a size limit. The rest stays due. */
const FAILURES_MAX = 60;

/** Settles what time means for these claims, and what a changed roster means for them. */
export function settleBoard(claim_ids: readonly string[]): Decision<JsonObject> {
  return {
    needs: { keys: [boardKey, ...claim_ids.map(boardClaimKey)] },
    decide(loaded, now_ms) {
      const board = boardOf(loaded.get(boardKey));
      let failures = 0;
      const events = claim_ids.flatMap((id) => {
        const record = loaded.get<BoardClaimState>(boardClaimKey(id)) as BoardClaimRecord | undefined;
        if (record === undefined || !isOpen(record.state)) return [];
        const draft = ClaimDraft.of(record, board, now_ms);
        followRoster(draft);
        closeBids(draft);
        const mishaps = timedOut(draft, FAILURES_MAX - failures);
        failures += mishaps.length;
        return [...mishaps, ...draft.events];
      });
      if (events.length === 0) return refused(refuse('wrong_status', 'Nothing on the board is due.'));
      return commit(events, { success: true, settled: claim_ids.length });
    },
  };
}

function timedOut(draft: ClaimDraft, most: number): EventBody[] {
  const failures: EventBody[] = [];
  for (const agent_id of outstanding(draft.state)) {
    // The first of them may have ended the claim.
    const grant = grantTo(draft.state, agent_id);
    if (grant === undefined || !isOutstanding(draft.state, agent_id)) continue;
    if (draft.now_ms < grant.deadline_ms || failures.length >= most) continue;
    const { phase, attempt, granted_at_ms, started_at_ms, limit_ms } = grant;
    const { artefact_id } = draft.state;
    const summary = `${agent_id} delivered nothing for ${phase} within ${limit_ms / 1000} s.`;
    const { id, event } = failureOf(
      {
        type: 'GrantTimedOut',
        payload: {
          reason: 'timeout',
          phase,
          agent: agent_id,
          attempt,
          granted_at: isoTime(granted_at_ms),
          started_at: started_at_ms === undefined ? null : isoTime(started_at_ms),
          limit_ms,
        },
        summary,
        key: `timeout\0${draft.id}\0${agent_id}\0${attempt}`,
      },
      [artefact_id],
      draft.id,
    );
    failures.push(event);
    failGrant(draft, agent_id, id, 'timeout');
  }
  return failures;
}

/** Ends an open claim at the request of an administrator, even while agents work on it. */
export function terminateClaim(claim_id: string, reason: string, by: string): Decision<JsonObject> {
  const key = boardClaimKey(claim_id);
  return {
    needs: { keys: [key, boardKey] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardClaimState>(key) as BoardClaimRecord | undefined;
      if (record === undefined) return refused(unknownBoardClaim(claim_id));
      if (!isOpen(record.state)) {
        const { status } = record.state;
        return refused(
          refuse('wrong_status', `Claim ${claim_id} is ${status} already.`, { claim_id, status }),
        );
      }
      const draft = ClaimDraft.of(record, boardOf(loaded.get(boardKey)), now_ms);
      draft.add('claim_terminated', { reason, terminated_by: by });
      return commit(draft.events, { success: true, claim_id, status: 'terminated' });
    },
  };
}
