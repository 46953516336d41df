import { areaName } from '../../../kernel/area.ts';
import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import { namedAreas } from '../../../runtime/call.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { waitFor } from '../../../runtime/waiting.ts';
import { checkLocksNeeds, checkLocks as describeLocks } from '../../locks/index.ts';
import { type ArtefactState, artefactKey, describeArtefact, type StructuralType } from '../artefact.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import {
  type BoardClaimState,
  boardClaimKey,
  claimsAwaiting,
  claimsGranted,
  grantTo,
  mayConcern,
} from '../board-claim.ts';
import {
  placeBid as bid,
  deliverArtefact as deliver,
  returnGrant as giveBack,
  takeGrant as take,
} from '../commands.ts';
import { contextOf } from '../context.ts';
import { type CoWorker, coWorkers } from '../show-board.ts';
import { grantAnswer, runIdOf } from '../take-grant.ts';
import { settleDueClaims } from './settle-operations.ts';

export interface BidInput {
  claim_id: string;
  bid: string;
  files?: string[] | undefined;
}

export const placeBid = {
  name: 'place_bid',
  group: 'board',
  verb: 'bid',
  summary: 'Bid on a claim: review, claim (in parallel), exclusive or ignore. The first bid stands.',
  route: { method: 'POST', path: '/board/bid' },
  mutates: true,
  proven: true,
  standard: false,
  positional: ['claim_id', 'bid'],
  examples: ['cox board bid 0192… review', 'cox board bid 0192… claim --files docs/'],
  input: async () => (await import('../schemas.ts')).placeBid,
  async handle({ claim_id, bid: word, files }, step) {
    const named = namedAreas({ file_paths: files }, step, 'files');
    if ('success' in named) return named;
    const { agent_id } = step.caller;
    const areas = files === undefined ? undefined : named.areas.map(areaName);
    return answerOf(await step.run(bid({ claim_id, agent_id, bid: word, files: areas })));
  },
} satisfies Operation<BidInput>;

export const myGrants = {
  name: 'my_grants',
  group: 'board',
  verb: 'grants',
  summary: 'What you were granted on the board and what waits for your bid; can wait for something to come.',
  route: { method: 'POST', path: '/board/grants' },
  mutates: false,
  standard: false,
  waits: 'wait_seconds',
  examples: ['cox board grants', 'cox board grants --wait-seconds 300 --json'],
  sample: { wait_seconds: 0 },
  input: async () => (await import('../schemas.ts')).myGrants,
  async handle({ wait_seconds = 0 }, step) {
    // Subscribed before the first look, so that no later change is missed.
    const { agent_id } = step.caller;
    const hints = wait_seconds === 0 ? undefined : step.hints((row) => mayConcern(agent_id, row));
    try {
      let next_ms = await settleDueClaims(step);
      const first = await lookFor(step);
      if (hints === undefined || hasSomething(first)) return first;
      step.waiting({ agent_id });
      const awaited = {
        timeout_ms: wait_seconds * 1000,
        renew_ms: limits.session_touch_ms,
        attempt: async () => {
          next_ms = await settleDueClaims(step);
          const found = await lookFor(step);
          return hasSomething(found) ? found : undefined;
        },
        renew: () => step.stillHere(),
        soonest_ms: () => Math.min(next_ms, limits.session_touch_ms),
      };
      return (await waitFor(step, hints, awaited)) ?? first;
    } finally {
      hints?.close();
    }
  },
} satisfies Operation<{ wait_seconds?: number | undefined }>;

function hasSomething({ grants, open_bids }: JsonObject): boolean {
  return (grants as unknown[]).length + (open_bids as unknown[]).length > 0;
}

async function lookFor(step: Step): Promise<JsonObject> {
  const { agent_id } = step.caller;
  const granted = claimsGranted(agent_id, limits.board_claims_listed_max);
  const awaiting = claimsAwaiting(agent_id, limits.board_claims_listed_max);
  const { loaded } = await step.find({ keys: [boardKey], ranges: [granted, awaiting] });
  const board = boardOf(loaded.get<BoardState>(boardKey));
  const grants: JsonObject[] = [];
  for (const claim of loaded.list<BoardClaimState>(granted)) {
    const grant = grantTo(claim.state, agent_id);
    if (grant === undefined) continue;
    const { taken } = grant;
    grants.push({
      ...grantAnswer(claim, grant),
      run_id: runIdOf(claim.id, agent_id, grant.attempt),
      co_workers: await shownCoWorkers(coWorkers(claim.state, agent_id, board), step),
      taken: taken === undefined ? null : { ...taken, until: isoTime(taken.until_ms) },
    });
  }
  const open_bids = loaded.list<BoardClaimState>(awaiting).map(({ id, state }) => ({
    claim_id: id,
    artefact_id: state.artefact_id,
    artefact_type: state.artefact_type,
    produced_by_agent: state.produced_by_agent,
    produced_by_role: state.produced_by_role,
    due: state.bids_due_ms === undefined ? null : isoTime(state.bids_due_ms),
  }));
  return { success: true, agent_id, grants, open_bids };
}

/** What the co-workers said they would touch, and what they hold now. */
async function shownCoWorkers(others: readonly CoWorker[], step: Step): Promise<JsonObject[]> {
  if (others.length === 0) return [];
  const { loaded, now_ms } = await step.find(checkLocksNeeds(undefined));
  const { locks } = describeLocks(undefined, loaded, now_ms) as { locks?: JsonObject[] };
  return others.map(({ agent_id, role, declared }) => ({
    agent_id,
    role,
    declared: [...declared],
    holds: (locks ?? [])
      .filter((lock) => lock.locked_by === agent_id)
      .map(({ file_path }) => file_path ?? null),
  }));
}

export interface TakeInput {
  claim_id: string;
  host?: string | undefined;
  pid?: number | undefined;
  queued: boolean;
  preparing: boolean;
  instead_of?: string | undefined;
}

export const takeGrant = {
  name: 'take_grant',
  group: 'board',
  verb: 'take',
  summary:
    'Begin with your part of a claim, and again while you work, at least every 60 s if others run the same agent: the artefact, its context and your co-workers.',
  route: { method: 'POST', path: '/board/take' },
  mutates: true,
  proven: true,
  standard: false,
  positional: ['claim_id'],
  examples: ['cox board take 0192… --json'],
  input: async () => (await import('../schemas.ts')).takeGrant,
  async handle(input, step) {
    const { caller } = step;
    const [queued, preparing] = [input.queued || undefined, input.preparing || undefined];
    const answer = answerOf(await step.run(take({ ...input, queued, preparing, caller })));
    if (isRefusal(answer) || input.queued || input.preparing) return answer;
    return { ...answer, ...(await workOf(input.claim_id, answer.artefact_id as string, step)) };
  },
} satisfies Operation<TakeInput>;

/** The input of an agent's program: the artefact and what led to it. */
async function workOf(claim_id: string, artefact_id: string, step: Step): Promise<JsonObject> {
  const { agent_id } = step.caller;
  const [key, target] = [boardClaimKey(claim_id), artefactKey(artefact_id)];
  const { loaded } = await step.find({ keys: [key, target, boardKey] });
  const claim = loaded.get<BoardClaimState>(key);
  const artefact = loaded.get<ArtefactState>(target);
  const grant = claim === undefined ? undefined : grantTo(claim.state, agent_id);
  if (claim === undefined || artefact === undefined || grant === undefined) return {};
  const { additional_context_ids } = claim.state;
  const context = await contextOf(artefact, additional_context_ids, step.find.bind(step));
  const board = boardOf(loaded.get<BoardState>(boardKey));
  return {
    run_id: runIdOf(claim.id, agent_id, grant.attempt),
    target_artefact: describeArtefact(artefact),
    context_chain: context.artefacts.map(describeArtefact),
    context_truncated: context.truncated,
    co_workers: await shownCoWorkers(coWorkers(claim.state, agent_id, board), step),
  };
}

export const returnGrant = {
  name: 'return_grant',
  group: 'board',
  verb: 'return',
  summary: 'Give back your part of a claim undone: whoever runs this agent next begins with it.',
  route: { method: 'POST', path: '/board/return' },
  mutates: true,
  proven: true,
  winds_down: true,
  standard: false,
  positional: ['claim_id'],
  examples: ['cox board return 0192…'],
  input: async () => (await import('../schemas.ts')).returnGrant,
  handle: async ({ claim_id }, step) => answerOf(await step.run(giveBack({ claim_id, caller: step.caller }))),
} satisfies Operation<{ claim_id: string }>;

export interface DeliverInput {
  claim_id: string;
  type: string;
  payload: string;
  summary?: string | undefined;
  structural_type?: StructuralType | undefined;
  attempt?: number | undefined;
}

export const deliverArtefact = {
  name: 'deliver_artefact',
  group: 'board',
  verb: 'deliver',
  summary: 'Hand in your part of a claim. The claim goes on when everybody in its phase has.',
  route: { method: 'POST', path: '/board/deliver' },
  mutates: true,
  proven: true,
  winds_down: true,
  standard: false,
  positional: ['claim_id', 'type', 'payload'],
  examples: ["cox board deliver 0192… Review '{}'", 'cox board deliver 0192… CodeCommit 4f1c…'],
  input: async () => (await import('../schemas.ts')).deliverArtefact,
  async handle({ claim_id, attempt, ...contents }, step) {
    const artefact = { id: step.ids.uuid(), ...contents };
    const answer = answerOf(await step.run(deliver({ claim_id, artefact, attempt, by: step.caller })));
    if (answer.approval_id !== undefined) step.announce();
    return answer;
  },
} satisfies Operation<DeliverInput>;
