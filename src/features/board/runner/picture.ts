import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { shownStore } from '../../../runtime/about.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { type ArtefactState, newestArtefacts, outlineArtefact } from '../artefact.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  endedClaims,
  grantTo,
  isBidding,
  openClaims,
  outstanding,
} from '../board-claim.ts';
import { awaitedDecisions, fateNeeds } from '../fate.ts';
import { describeBoardClaim, describeMember, grantStanding, isStuck } from '../show-board.ts';

const ENDED = 20;
const ARTEFACTS = 20;

/** The board for people: one bounded read, without a row in the log. */
export async function pictureBoard(coxswain: Coxswain): Promise<{ seen: JsonObject; now_ms: number }> {
  const { store, project, store_url } = coxswain;
  const open = openClaims(limits.board_claims_listed_max);
  const over = endedClaims(ENDED);
  const newest = newestArtefacts(ARTEFACTS);
  const { ranges } = fateNeeds([]);
  const { loaded, now_ms } = await store.find(project, {
    keys: [boardKey],
    ranges: [open, over, newest, ...ranges],
  });
  const board = boardOf(loaded.get<BoardState>(boardKey));
  // The oldest first, since these may need a person.
  const pending = loaded
    .list<BoardClaimState>(open)
    .toSorted((a, b) => a.state.opened_at_ms - b.state.opened_at_ms || a.born - b.born);
  return {
    now_ms,
    seen: {
      store: shownStore(store_url),
      project,
      seen_at: isoTime(now_ms),
      needs_you: [
        ...awaitedDecisions(loaded, now_ms).map((decision) => ({ what: 'decision', ...decision })),
        ...pending.filter(({ state }) => isStuck(state, board, now_ms)).map(stuckClaim),
      ],
      agents: board.members.map((member) => ({
        ...describeMember(member),
        ...partsOf(member.agent_id, pending, now_ms),
      })),
      claims: pending.map((claim) => describeBoardClaim(claim, board, now_ms)),
      ...(pending.length === open.limit ? { claims_truncated: true } : {}),
      ended: loaded.list<BoardClaimState>(over).map((claim) => describeBoardClaim(claim, board, now_ms)),
      artefacts: loaded.list<ArtefactState>(newest).map(outlineArtefact),
      settings: { ...board.settings, timeouts_ms: { ...board.settings.timeouts_ms } },
    },
  };
}

/** What the claim waits for, and the command that helps if it never comes. */
function stuckClaim({ id, state }: BoardClaimRecord): JsonObject {
  const [silent] = isBidding(state) ? state.awaited : [];
  return {
    what: 'stuck_claim',
    claim_id: id,
    artefact_id: state.artefact_id,
    artefact_type: state.artefact_type,
    since_at: isoTime(state.opened_at_ms),
    awaits_bids_of: isBidding(state) ? [...state.awaited] : [],
    awaits_work_of: outstanding(state),
    command: silent === undefined ? `cox board terminate ${id} "why"` : `cox board leave ${silent}`,
  };
}

/** The claims on which the agent's bid or work is awaited. */
function partsOf(agent_id: string, pending: readonly BoardClaimRecord[], now_ms: number): JsonObject {
  const granted = pending.filter(({ state }) => outstanding(state).includes(agent_id));
  return {
    grants: granted.flatMap(({ id, state }) => {
      const grant = grantTo(state, agent_id);
      if (grant === undefined) return [];
      const { started_at_ms } = grant;
      return [
        {
          claim_id: id,
          artefact_id: state.artefact_id,
          artefact_type: state.artefact_type,
          phase: grant.phase,
          standing: grantStanding(grant, now_ms),
          started_at: started_at_ms === undefined ? null : isoTime(started_at_ms),
        },
      ];
    }),
    bids_awaited: pending.filter(({ state }) => isBidding(state) && state.awaited.includes(agent_id)).length,
  };
}
