import type { JsonObject } from '../../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../../src/kernel/refusal.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import { commitsOf } from '../answers.ts';
import { insist } from '../model.ts';
import type { Call, World } from '../world.ts';
import { endOf } from './model-claims.ts';
import { pairNamed, STALE_MS } from './rules.ts';

/** What a success of each has written; one of them. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  claim_edge: ['edge_started', 'claim_renewed'],
  heartbeat_claim: ['claim_renewed', 'iteration_completed'],
  release_edge: ['edge_released'],
  converge_edge: ['edge_converged'],
  resolve_stale_claim: ['edge_released', 'claim_kept'],
  approve: ['approval_approved'],
  deny_approval: ['approval_denied'],
};
const LOOKS = new Set(['claims_status', 'show_approval']);

export function isAboutClaims({ operation }: Call): boolean {
  return operation in WRITES || LOOKS.has(operation);
}

/** What a caller is told about a claim is true: of the log, and of the time between its question and its answer. */
export function checkClaimAnswer(world: World, call: Call, answer: JsonObject): void {
  if (isRefusal(answer)) checkRefusal(world, call, answer);
  else if (call.operation === 'claims_status') checkStatus(world, answer);
  else if (!LOOKS.has(call.operation)) checkSuccess(world, call, answer);
}

function checkSuccess(world: World, call: Call, answer: JsonObject): void {
  const types = WRITES[call.operation] ?? [];
  const isIt = ({ type, data }: EventBody) =>
    types.includes(type) &&
    (call.operation !== 'claim_edge' || (data.lease as JsonObject).token === answer.fencing_token);
  insist(written(world, call).some(isIt), 'a success that is not in the log', call, answer);
}

/** The events of the call's commits; under its operation id also those of its first try. */
function written(world: World, call: Call): EventBody[] {
  const { feature, edge } = call.input;
  const id = feature === undefined ? undefined : pairNamed(String(feature), String(edge));
  return commitsOf(world, call).flatMap(({ events }) =>
    events.filter((event) => id === undefined || (event.kind === 'claim' && event.id === id)),
  );
}

function checkRefusal(world: World, call: Call, answer: JsonObject): void {
  const code = isRefusal(answer) ? refusalCode(answer) : '';
  world.count(`refused: ${code}`);
  insist(code !== 'internal_error', 'a fault', answer);
  // The store was away or the answer got lost: it may have happened.
  if (code === 'database_unavailable') return;
  if (code === 'claim_rejected') checkRejected(world, call, answer);
  else if (code === 'convergence_escalated')
    insist(world.model.claims.asked.has(String(answer.approval_id)), 'nobody was asked', call, answer);
  else checkNothingDone(world, call, code, answer);
}

function checkNothingDone(world: World, call: Call, code: string, answer: JsonObject): void {
  const rows = world.model.rowsOf(call.session_id, call.sequence);
  insist(
    rows.every(({ events }) => events.length === 0),
    'refused and done all the same',
    call,
    answer,
  );
  const aboutItself = ['operation_id_reused', 'role_mismatch', 'evaluators_failed'];
  insist(aboutItself.includes(code) || !holdsThroughout(world, call), 'the holder was refused', call, answer);
}

/** Another agent held it at some moment of the call. */
function checkRejected(world: World, call: Call, answer: JsonObject): void {
  const { feature, edge } = call.input;
  const pair = pairNamed(String(feature), String(edge));
  insist(answer.held_by !== call.agent_id, 'rejected for itself', call, answer);
  // The first answer again: true of its own time.
  const isRepeat = commitsOf(world, call).some(({ position }) => position <= call.began);
  insist(isRepeat || !holdsThroughout(world, call), 'the holder was rejected', call, answer);
  const held = world.model.claims.everHeld.some(
    ({ id, grant, until }) =>
      id === pair && grant.agent_id === answer.held_by && (isRepeat || until > call.began),
  );
  insist(held, 'rejected for nobody', call, answer);
  if (answer.waited_seconds !== undefined) world.count('waited in vain');
}

/** It had the grant it meant, from the question to the answer. */
function holdsThroughout(world: World, call: Call): boolean {
  const { feature, edge } = call.input;
  if (typeof feature !== 'string') return false;
  const id = pairNamed(feature, String(edge));
  const pair = world.model.claims.all.get(id);
  const token = call.meant.get(`claim/${id}`) ?? pair?.grant?.token;
  return (
    pair?.grant !== undefined &&
    pair.grant.agent_id === call.agent_id &&
    pair.since <= call.began &&
    pair.grant.token === token &&
    pair.grant.expires_at_ms > call.clock_ms_max
  );
}

/** Reading has no place to stand still, so the list is exactly what the log says now. */
function checkStatus(world: World, answer: JsonObject): void {
  const said = (answer.claims as JsonObject[]).map(
    ({ feature, edge, agent_id }) => `${agent_id} ${pairNamed(String(feature), String(edge))}`,
  );
  const held = [...world.model.claims.all.values()].filter(
    (pair) => pair.grant !== undefined && endOf(pair) > world.clock_ms,
  );
  const true_ = held.map(({ id, grant }) => `${grant?.agent_id} ${id}`);
  insist(JSON.stringify(said.sort()) === JSON.stringify(true_.sort()), 'a list of other claims', said, true_);
  const shown = (answer.stale as JsonObject[]).map((claim) =>
    pairNamed(String(claim.feature), String(claim.edge)),
  );
  const stale = held.filter((pair) => !pair.kept && world.clock_ms - pair.last_active_ms >= STALE_MS);
  const silent = stale.map(({ id }) => id);
  insist(JSON.stringify(shown.sort()) === JSON.stringify(silent.sort()), 'other stale claims', shown, silent);
}
