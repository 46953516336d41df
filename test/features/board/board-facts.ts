import assert from 'node:assert/strict';
import type { StructuralType } from '../../../src/features/board/artefact.ts';
import { type BoardRecord, type BoardState, boardOf } from '../../../src/features/board/board.ts';
import { type BoardClaimState, boardClaimEvent } from '../../../src/features/board/board-claim.ts';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import {
  type Bidder,
  type BoardSettings,
  DEFAULT_SETTINGS,
  type StandingBid,
} from '../../../src/features/board/board-settings.ts';
import {
  configureBoard,
  deliverArtefact,
  placeBid,
  publishArtefact,
  settleBoard,
  takeGrant,
} from '../../../src/features/board/commands.ts';
import { describeBoardClaim } from '../../../src/features/board/show-board.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Decision, Needs } from '../../../src/ledger/decision.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';

/** What most specs are about: a goal that a person put on the board at noon, and its claim. */
export const GOAL = 'goal';
export const CLAIM = claimIdOf(GOAL);

export const LATER_MS = NOON_MS + 10_000;
export const OVERDUE_MS = NOON_MS + MINUTE_MS;

/** An agent on the roster: asked for its bid, or with one that always stands. */
export function bidder(agent_id: string, bid?: StandingBid['bid'], more: Partial<Bidder> = {}): Bidder {
  const standing_bid = bid === undefined ? {} : { standing_bid: { bid } };
  return { agent_id, role: `role of ${agent_id}`, ...standing_bid, ...more };
}

/** With the deadline that most of these tests are about; by default there is none. */
export function settings(more: Partial<BoardSettings> = {}): BoardSettings {
  return { ...DEFAULT_SETTINGS, bid_deadline_ms: 60_000, ...more };
}

export const agent = (agent_id: string, session_id = `${agent_id}-1`) => ({
  agent_id,
  agent_type: 'test',
  session_id,
});

export function publish(
  id: string,
  more: {
    readonly by?: string;
    readonly type?: string;
    readonly structural_type?: StructuralType;
    readonly from?: readonly string[];
    readonly logical_id?: string;
  } = {},
): Decision<JsonObject> {
  const { by = 'ann', type = 'GoalDefined', structural_type = 'Standard', from = [], logical_id } = more;
  const artefact = { id, structural_type, type, payload: `contents of ${id}` };
  return publishArtefact({ artefact, source_artefacts: from, logical_id, agent_id: by, role: 'user' });
}

export const bids = (agent_id: string, bid: string, claim_id = CLAIM) =>
  placeBid({ claim_id, agent_id, bid });

export const takes = (agent_id: string, session_id?: string, claim_id = CLAIM) =>
  takeGrant({ claim_id, caller: agent(agent_id, session_id) });

export interface Delivered {
  readonly id?: string;
  readonly claim_id?: string;
  readonly type?: string;
  readonly structural_type?: StructuralType;
  readonly attempt?: number;
}

/** An agent hands in its part; the artefact is called after the agent unless it says otherwise. */
export function delivers(agent_id: string, payload: string, more: Delivered = {}): Decision<JsonObject> {
  const { id = `by ${agent_id}`, claim_id = CLAIM, type = 'Work', structural_type, attempt } = more;
  const artefact = { id, type, payload, structural_type };
  return deliverArtefact({ claim_id, artefact, attempt, by: agent(agent_id) });
}

export const fails = (agent_id: string, more: Delivered = {}) =>
  delivers(agent_id, '{"reason":"it broke"}', {
    type: 'ToolExecutionFailure',
    ...more,
    structural_type: 'Failure',
  });

export const settles = (...claim_ids: string[]) => settleBoard(claim_ids.length === 0 ? [CLAIM] : claim_ids);

export type Step = Decision<JsonObject> | readonly [at_ms: number, decision: Decision<JsonObject>];

/** Each step decided on what was before it: noon, unless it says when. A refused one ends the spec. */
export function happened(before: readonly Fact[], ...steps: readonly Step[]): Fact[] {
  let facts = [...before];
  for (const step of steps) {
    const [at_ms, decision] = 'needs' in step ? [facts.at(-1)?.at_ms ?? NOON_MS, step] : step;
    facts = given(...facts)
      .at(at_ms)
      .when(decision).facts;
  }
  return facts;
}

/** These take part and the goal is on the board. */
export function board(agents: readonly Bidder[], rules: Partial<BoardSettings> = {}): Fact[] {
  return happened([], configureBoard(settings(rules), agents), publish(GOAL));
}

export function claimIn(facts: readonly Fact[], id = CLAIM): BoardClaimState {
  const record = folded(facts).get(`board_claim/${id}`);
  assert.ok(record, `there is no claim ${id}`);
  return record.state as unknown as BoardClaimState;
}

export function rosterOf(facts: readonly Fact[]): BoardState {
  return boardOf(folded(facts).get('board/board') as unknown as BoardRecord | undefined);
}

export function claimShown(facts: readonly Fact[], now_ms: number): JsonObject {
  return describeBoardClaim({ id: CLAIM, state: claimIn(facts) } as never, rosterOf(facts), now_ms);
}

/** Who was granted what, as `phase: agents`, in the order of the phases. */
export function grantsIn(facts: readonly Fact[], id = CLAIM): string[] {
  return facts
    .flatMap(({ events }) => events)
    .filter((event) => event.id === id && event.type === 'phase_started')
    .map(({ data }) => `${data.phase}: ${Object.keys(data.granted as object).join(' ')}`);
}

/** An artefact as the facts have left it. */
export function artefactIn(facts: readonly Fact[], id: string): JsonObject {
  const record = folded(facts).get(`artefact/${id}`);
  assert.ok(record, `there is no artefact ${id}`);
  return record.state;
}

/** Failures that the board itself has written down: type and payload. */
export function failuresIn(
  facts: readonly Fact[],
): { readonly type: string; readonly payload: JsonObject }[] {
  return facts
    .flatMap(({ events }) => events)
    .filter(({ type, data }) => type === 'artefact_published' && data.produced_by_agent === 'coxswain')
    .map(({ data }) => ({
      type: String(data.type),
      payload: JSON.parse(String(data.payload)) as JsonObject,
    }));
}

/** An event of the goal's claim, with as much of it as a spec is about. */
export const told = (type: string, data: EventBody['data'] = {}, id = CLAIM) =>
  boardClaimEvent(id, type, data);

export const published = (id: string, data: EventBody['data'] = {}): EventBody => ({
  kind: 'artefact',
  id,
  type: 'artefact_published',
  data,
});

/** A store that holds these facts, as far as looking goes. */
export function lookingInto(facts: readonly Fact[]) {
  const state = folded(facts);
  return async (needs: Needs) => {
    const loaded = new LoadedSet();
    load(state, needs, loaded);
    return { loaded };
  };
}
