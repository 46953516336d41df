import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BoardClaimState, isBidding } from '../../../src/features/board/board-claim.ts';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import { BIDS } from '../../../src/features/board/board-settings.ts';
import {
  configureBoard,
  joinBoard,
  leaveBoard,
  terminateClaim,
} from '../../../src/features/board/commands.ts';
import { uuidFromKey } from '../../../src/kernel/ids.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Decision } from '../../../src/ledger/decision.ts';
import { canonical } from '../../../src/ledger/replay.ts';
import { MINUTE_MS } from '../../support/decider-spec.ts';
import { drawnIn, transitionsOf, type World } from '../../support/walk.ts';
import { bidder, bids, delivers, fails, publish, settings, settles, takes } from './board-facts.ts';

/** So many steps reach everything; more find nothing new. */
const DEPTH = 8;

const DRAFT = 'draft';
const CLAIM = claimIdOf(DRAFT);
/** Where the draft goes when it is sent back. */
const REWORK = uuidFromKey(`board rework\0${CLAIM}`);
const AGENTS = ['anna', 'bert'];

/** Everything that two agents, an author and time can do about one artefact. What they make ends there. */
function moves(): Decision<JsonObject>[] {
  const rules = settings({ on_failure: 'retry', max_attempts: 2 });
  const crew = [...AGENTS.map((name) => bidder(name)), bidder('walt', 'ignore')];
  const parts = (agent_id: string, claim_id: string) => [
    delivers(agent_id, '{}', { id: `${agent_id} agrees`, claim_id, structural_type: 'Terminal' }),
    delivers(agent_id, 'no', { id: `${agent_id} objects`, claim_id, structural_type: 'Terminal' }),
    fails(agent_id, { id: `${agent_id} fails`, claim_id }),
    takes(agent_id, undefined, claim_id),
  ];
  return [
    configureBoard(rules, crew),
    ...AGENTS.flatMap((name) => BIDS.map((bid) => bids(name, bid, CLAIM))),
    ...AGENTS.flatMap((name) => parts(name, CLAIM)),
    ...parts('walt', REWORK),
    settles(CLAIM, REWORK),
    joinBoard(bidder('dora', 'claim')),
    leaveBoard('bert'),
    ...[CLAIM, REWORK].map((claim_id) => terminateClaim(claim_id, 'enough', 'ann')),
  ];
}

/** Versions, past times and which of the artefacts it was make no difference to any decider. */
function essence({ state, now_ms }: World): string {
  const claims = [...state.values()].filter(({ kind }) => kind === 'board_claim');
  const board = state.get('board/board')?.state as
    | { members?: { agent_id: string }[]; generation?: number }
    | undefined;
  const is = (time_ms: number | undefined) => Math.sign((time_ms ?? now_ms + 1) - now_ms);
  return canonical([
    board?.members?.map(({ agent_id }) => agent_id) ?? [],
    claims.map(({ id, state: claim }) => {
      const {
        status,
        phase,
        awaited,
        bids: placed,
        grants,
        bids_due_ms,
        generation,
      } = claim as unknown as BoardClaimState;
      const words = Object.entries(placed).map(([name, { bid }]) => `${name} ${bid}`);
      const shares = Object.entries(grants).map(([name, { attempt, delivered, deadline_ms, taken }]) => [
        name,
        attempt,
        delivered?.verdict ?? '',
        taken !== undefined,
        is(deadline_ms),
      ]);
      const isTold = generation === board?.generation;
      return [id, status, phase ?? '', [...awaited], words.sort(), shares, is(bids_due_ms), isTold];
    }),
    state.has(`artefact/${DRAFT}`),
  ]);
}

test('[PHASE-1] [PHASE-6] the drawing in docs/board-states.md is what the deciders and evolve do, no more and no less', () => {
  const transitions = transitionsOf({
    // No agent is on the board yet.
    beginning: [publish(DRAFT, { by: 'walt' })],
    moves: moves(),
    pause_ms: 31 * MINUTE_MS,
    steps_max: DEPTH,
    kind: 'board_claim',
    status: (claim) => {
      const state = claim as unknown as BoardClaimState;
      return isBidding(state) ? 'bidding' : state.status;
    },
    essence,
  });
  assert.deepEqual([...transitions].sort(), drawnIn('board-states.md'));
});
