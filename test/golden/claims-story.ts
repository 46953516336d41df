import { claimEdge } from '../../src/features/claims/operations/claim-edge-operation.ts';
import { convergeEdge } from '../../src/features/claims/operations/keep-claim-operations.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Telling } from './telling.ts';

const EDGE = { feature: 'REQ-F-1', edge: 'design→code' };

/** What a role may not converge waits for a person: once denied, once approved. */
async function tellOfReviews({ ask, build, paul }: Telling, bert: Connection): Promise<void> {
  const converge = async () => await build(bert, convergeEdge, { ...EDGE, iteration: 2, evaluators: '2/2' });
  const { approval_id: denied } = await converge();
  await ask(paul, 'deny_approval', { approval_id: denied, reason: 'not yet' });
  const { approval_id } = await converge();
  const { approval } = await ask(paul, 'show_approval', { approval_id });
  const { shown_hash } = approval as JsonObject;
  await ask(paul, 'approve', { approval_id, shown_hash, reason: 'now' });
}

/** Held by one at a time; converged, given up, found silent by a person; and one who works here alone. */
export async function tellOfClaims(telling: Telling): Promise<void> {
  const { ask, build, connect, pass, paul } = telling;
  const [anna, bert] = [connect({ agent_id: 'anna' }), connect({ agent_id: 'bert' })];
  await ask(anna, 'claim_edge', { ...EDGE, agent_role: 'full_stack' });
  await build(bert, claimEdge, { ...EDGE, agent_role: 'tdd_engineer' });
  await ask(anna, 'claim_edge', EDGE);
  await ask(anna, 'heartbeat_claim', { ...EDGE, iteration: 1, note: 'tests red' });
  const done = { iteration: 2, evaluators: '3/3', convergence_type: 'full' };
  await ask(anna, 'converge_edge', { ...EDGE, ...done });
  await ask(bert, 'claim_edge', { ...EDGE, agent_role: 'tdd_engineer' });
  await tellOfReviews(telling, bert);
  await ask(bert, 'claim_edge', EDGE);
  await ask(bert, 'release_edge', { ...EDGE, reason: 'needs the new API first' });
  await ask(bert, 'claim_edge', EDGE);
  pass(31);
  await ask(anna, 'claims_status', {});
  await ask(paul, 'resolve_stale_claim', { ...EDGE, decision: 'keep', reason: 'a long build' });
  await ask(paul, 'resolve_stale_claim', { ...EDGE, decision: 'release', reason: 'its machine is gone' });
  await ask(paul, 'set_claim_mode', { mode: 'single' });
  await ask(anna, 'heartbeat_claim', { ...EDGE, edge: 'code↔unit_tests', iteration: 1 });
  await ask(paul, 'set_claim_mode', { mode: 'many' });
}
