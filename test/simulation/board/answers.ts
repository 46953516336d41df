import type { JsonObject } from '../../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../../src/kernel/refusal.ts';
import { commitsOf } from '../answers.ts';
import { insist } from '../model.ts';
import type { Call, World } from '../world.ts';

/** What a success of each has written; one of them. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  configure_board: ['board_configured'],
  join_board: ['bidder_joined'],
  leave_board: ['bidder_left'],
  publish_artefact: ['artefact_published'],
  place_bid: ['bid_placed'],
  take_grant: ['grant_taken'],
  return_grant: ['grant_taken'],
  deliver_artefact: ['artefact_published'],
  terminate_claim: ['claim_terminated'],
};
const LOOKS = new Set(['my_grants', 'board_status']);

export function isAboutBoard({ operation }: Call): boolean {
  return operation in WRITES || LOOKS.has(operation);
}

/** What a caller is told about the board is true: of the log, and of the time between its question and its answer. */
export function checkBoardAnswer(world: World, call: Call, answer: JsonObject): void {
  if (isRefusal(answer)) checkRefusal(world, call, answer);
  else if (LOOKS.has(call.operation)) checkLook(world, call, answer);
  else if (answer.repeated === true) world.count('the same bid again');
  else checkSuccess(world, call, answer);
}

function checkSuccess(world: World, call: Call, answer: JsonObject): void {
  if (answer.late === true) world.count('delivered late');
  const types = WRITES[call.operation] ?? [];
  const written = commitsOf(world, call).flatMap(({ events }) => events);
  insist(
    written.some(({ type }) => types.includes(type)),
    'a success that is not in the log',
    call,
    answer,
  );
  if (call.operation !== 'deliver_artefact') return;
  const made = written.find(({ id }) => id === answer.artefact_id);
  insist(made !== undefined && (made.data.late === true) === answer.late, 'late, or not', call, answer);
}

function checkRefusal(world: World, call: Call, answer: JsonObject): void {
  const code = isRefusal(answer) ? refusalCode(answer) : '';
  world.count(`refused: ${code}`);
  insist(code !== 'internal_error', 'a fault', answer);
  // The store was away or the answer got lost: it may have happened.
  if (code === 'database_unavailable') return;
  const rows = world.model.rowsOf(call.session_id, call.sequence);
  insist(
    rows.every(({ events }) => events.length === 0),
    'refused and done all the same',
    call,
    answer,
  );
  const { board } = world.model;
  const claim = board.claims.get(String(call.input.claim_id));
  if (claim === undefined) return;
  const part = claim.parts.get(call.agent_id);
  const isGranted =
    part !== undefined && part.since <= call.began && board.outstanding(claim).includes(call.agent_id);
  if (code === 'not_granted') insist(!isGranted, 'its part was kept from it', call, answer);
  // With a changed roster its bid may be known by now without asking.
  const isBidding = claim.ended === undefined && claim.phase === undefined && claim.asked > board.rosterSince;
  const isAsked = isBidding && claim.asked <= call.began && claim.awaited.has(call.agent_id);
  if (code === 'bidding_over') insist(!isAsked, 'its bid was kept from it', call, answer);
  if (code === 'grant_taken') insist(answer.session_id !== call.session_id, 'kept from itself', call, answer);
}

/** A caller that looks settles what is due first. Reading has no place to stand still: the lists are what the log says now. */
function checkLook(world: World, call: Call, answer: JsonObject): void {
  // No process is there to hear it.
  if (call.gone.signal.aborted) return;
  const { board } = world.model;
  const open = board.open();
  for (const claim of open)
    insist(
      claim.changed > call.began || board.dueAt_ms(claim) > call.clock_ms_min,
      'what was due was left lying',
      claim.id,
      call,
    );
  const ids = (list: unknown, field: string) => (list as JsonObject[]).map((each) => each[field]);
  if (call.operation === 'board_status') {
    same(
      ids(answer.claims, 'id'),
      open.map(({ id }) => id),
    );
    same(ids(answer.agents, 'agent_id'), [...board.members.keys()]);
    return;
  }
  const granted = open.filter((claim) => board.outstanding(claim).includes(call.agent_id));
  same(
    ids(answer.grants, 'claim_id'),
    granted.map(({ id }) => id),
  );
  const asked = open.filter(({ phase, awaited }) => phase === undefined && awaited.has(call.agent_id));
  same(
    ids(answer.open_bids, 'claim_id'),
    asked.map(({ id }) => id),
  );
}

function same(said: readonly unknown[], truly: readonly string[]): void {
  const [a, b] = [said.map(String).sort(), [...truly].sort()];
  insist(JSON.stringify(a) === JSON.stringify(b), 'a list of others', a, b);
}
