import { areaName } from '../../../kernel/area.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import { namedAreas } from '../../../runtime/call.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  boardClaimKey,
  endedClaims,
  openClaims,
} from '../board-claim.ts';
import type { Bid, Bidder, OnFailure } from '../board-settings.ts';
import {
  configureBoard as configure,
  joinBoard as join,
  leaveBoard as leave,
  terminateClaim as terminate,
} from '../commands.ts';
import { unknownBoardClaim } from '../deliver-artefact.ts';
import { describeBoardClaim, describeMember, isStuck } from '../show-board.ts';
import { settleDueClaims } from './settle-operations.ts';

export interface StatusInput {
  claim_id?: string | undefined;
  ended: boolean;
  limit: number;
}

export const boardStatus = {
  name: 'board_status',
  group: 'board',
  verb: 'status',
  summary: 'Claims on the board with their bids, phases and what they wait for, and who is on the roster.',
  route: { method: 'POST', path: '/board/status' },
  mutates: false,
  standard: false,
  positional: ['claim_id'],
  examples: ['cox board status', 'cox board status --ended --json'],
  sample: {},
  input: async () => (await import('../schemas.ts')).boardStatus,
  async handle({ claim_id, ended, limit }, step) {
    await settleDueClaims(step);
    const keys = claim_id === undefined ? [boardKey] : [boardKey, boardClaimKey(claim_id)];
    const [open, over] = [openClaims(limit), endedClaims(limit)];
    const ranges = claim_id === undefined ? (ended ? [open, over] : [open]) : [];
    const { loaded, now_ms } = await step.find({ keys, ranges });
    const board = boardOf(loaded.get<BoardState>(boardKey));
    const shown = (claim: BoardClaimRecord) => describeBoardClaim(claim, board, now_ms);
    if (claim_id !== undefined) {
      const claim = loaded.get<BoardClaimState>(boardClaimKey(claim_id));
      return claim === undefined ? unknownBoardClaim(claim_id) : { success: true, claim: shown(claim) };
    }
    const pending = loaded.list<BoardClaimState>(open);
    return {
      success: true,
      claims: pending.map(shown),
      ended: ended ? loaded.list<BoardClaimState>(over).map(shown) : [],
      pending_for_long: pending.filter(({ state }) => isStuck(state, board, now_ms)).map(({ id }) => id),
      agents: board.members.map(describeMember),
      settings: { ...board.settings, timeouts_ms: { ...board.settings.timeouts_ms } },
    };
  },
} satisfies Operation<StatusInput>;

export interface MemberInput {
  role: string;
  bidding?: Bid | undefined;
  target_types?: string[] | undefined;
  timeout_seconds?: number | undefined;
  files?: string[] | undefined;
}

function bidderOf(agent_id: string, input: MemberInput, step: Step, list = 'files'): Bidder | Refusal {
  const { role, bidding, target_types, timeout_seconds, files } = input;
  const named = namedAreas({ file_paths: files }, step, list);
  if ('success' in named) return named;
  return {
    agent_id,
    role,
    standing_bid: bidding === undefined ? undefined : { bid: bidding, target_types },
    timeout_ms: timeout_seconds === undefined ? undefined : timeout_seconds * 1000,
    files: files === undefined ? undefined : named.areas.map(areaName),
  };
}

export const joinBoard = {
  name: 'join_board',
  group: 'board',
  verb: 'join',
  summary: 'Take part in the bidding: every new artefact waits for your bid from then on.',
  route: { method: 'POST', path: '/board/join' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['role'],
  examples: ['cox board join Reviewer', "cox board join Reviewer --bidding review --target-types 'Code*'"],
  sample: { role: 'Reviewer', bidding: 'review' },
  input: async () => (await import('../schemas.ts')).joinBoard,
  async handle(input, step) {
    const bidder = bidderOf(step.caller.agent_id, input, step);
    if ('success' in bidder) return bidder;
    return await told(answerOf(await step.run(join(bidder))), step);
  },
} satisfies Operation<MemberInput>;

export const leaveBoard = {
  name: 'leave_board',
  group: 'board',
  verb: 'leave',
  summary: 'Take part no longer: nothing waits for your bid any more.',
  route: { method: 'POST', path: '/board/leave' },
  mutates: true,
  winds_down: true,
  standard: false,
  positional: ['agent_id'],
  examples: ['cox board leave', 'cox board leave reviewer'],
  input: async () => (await import('../schemas.ts')).leaveBoard,
  async handle({ agent_id = '' }, step) {
    const own = step.caller.agent_id;
    const who = agent_id || own;
    if (who !== own && step.authority === 'agent')
      return refuse('forbidden', 'An agent takes only itself off the board.', { agent_id: who });
    return await told(answerOf(await step.run(leave(who))), step);
  },
} satisfies Operation<{ agent_id?: string | undefined }>;

/**
 * Claims that wait for bids learn of the change at once. If that fails, the next process that looks at the
 * board does it.
 */
async function told<A extends object>(answer: A, step: Step): Promise<A> {
  if (!isRefusal(answer as never)) await settleDueClaims(step);
  return answer;
}

export interface ConfigureInput {
  bid_deadline_seconds: number;
  review_seconds: number;
  parallel_seconds: number;
  exclusive_seconds: number;
  max_review_iterations: number;
  on_failure: OnFailure;
  max_attempts: number;
  stuck_minutes: number;
  allow_duplicate_roles: boolean;
  agents: (MemberInput & {
    agent_id: string;
    on_failure?: OnFailure | undefined;
    max_attempts?: number | undefined;
  })[];
}

export const configureBoard = {
  name: 'configure_board',
  group: 'board',
  verb: 'configure',
  summary: 'Set the rules of the board and its configured agents; those who joined by themselves stay.',
  route: { method: 'POST', path: '/board/configure' },
  mutates: true,
  administers: true,
  standard: false,
  examples: ['cox board configure --bid-deadline-seconds 30'],
  sample: { bid_deadline_seconds: 30 },
  input: async () => (await import('../schemas.ts')).configureBoard,
  async handle(input, step) {
    const agents: Bidder[] = [];
    for (const [index, { agent_id, on_failure, max_attempts, ...member }] of input.agents.entries()) {
      const bidder = bidderOf(agent_id, member, step, `agents.${index}.files`);
      if ('success' in bidder) return bidder;
      agents.push({ ...bidder, on_failure, max_attempts });
    }
    const { max_review_iterations, on_failure, max_attempts, allow_duplicate_roles } = input;
    const settings = {
      bid_deadline_ms: input.bid_deadline_seconds * 1000,
      timeouts_ms: {
        review: input.review_seconds * 1000,
        parallel: input.parallel_seconds * 1000,
        exclusive: input.exclusive_seconds * 1000,
      },
      max_review_iterations,
      on_failure,
      max_attempts,
      stuck_ms: input.stuck_minutes * 60_000,
      allow_duplicate_roles,
    };
    return await told(answerOf(await step.run(configure(settings, agents))), step);
  },
} satisfies Operation<ConfigureInput>;

export const terminateClaim = {
  name: 'terminate_claim',
  group: 'board',
  verb: 'terminate',
  summary: 'End a claim on the board, whoever works on it.',
  route: { method: 'POST', path: '/board/terminate' },
  mutates: true,
  destructive: true,
  administers: true,
  standard: false,
  positional: ['claim_id', 'reason'],
  examples: ['cox board terminate 0192… "the goal has changed"'],
  input: async () => (await import('../schemas.ts')).terminateClaim,
  handle: async ({ claim_id, reason }, step) =>
    answerOf(await step.run(terminate(claim_id, reason, step.caller.agent_id))),
} satisfies Operation<{ claim_id: string; reason: string }>;
