import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, type Refusal } from '../../../kernel/refusal.ts';
import { answerOf, type Decision } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import type { ClaimCommand } from '../acting.ts';
import type { ClaimEvaluators } from '../claim-evaluators.ts';
import { heartbeatClaim as beat, convergeEdge as converge, releaseEdge as release } from '../commands.ts';
import { claimId } from '../edge-claim.ts';
import { fleetService } from '../fleet/fleet.ts';
import { showConverged } from '../views/show-converged.ts';

export interface KeepClaimInput {
  feature: string;
  edge: string;
  agent_role?: string | undefined;
  fencing_token?: number | undefined;
}

/** The name of a claim among a connection's grants. */
export function grantOf({ feature, edge }: KeepClaimInput): string {
  return `claim/${claimId(feature, edge)}`;
}

/** The caller, the subject and the rules that apply; or what is wrong with the rules. */
export async function commandOf(input: KeepClaimInput, step: Step): Promise<ClaimCommand | Refusal> {
  const rules = await step.use(fleetService).rules();
  if ('success' in rules) return rules;
  const { feature, edge } = input;
  const agent_role = input.agent_role ?? step.agent_role;
  return { caller: step.caller, unnamed: step.unnamed, agent_role, feature, edge, rules };
}

/** What the holder does with its claim: under the grant it names, else under the one this connection got. */
async function withGrant<I extends KeepClaimInput>(
  input: I,
  step: Step,
  decide: (command: ClaimCommand) => Decision<JsonObject>,
): Promise<JsonObject> {
  const command = await commandOf(input, step);
  if ('success' in command) return command;
  const token = input.fencing_token ?? step.grants.of(grantOf(input));
  return answerOf(await step.run(decide({ ...command, caller: { ...command.caller, token } })));
}

/**
 * Forgets only the grant that this answer ended: an answer may be repeated after the connection has got
 * another grant.
 */
function forgetEnded({ fencing_token }: JsonObject, input: KeepClaimInput, step: Step): void {
  step.grants.forget(grantOf(input), fencing_token as number);
}

export interface HeartbeatInput extends KeepClaimInput {
  iteration?: number | undefined;
  note?: string | undefined;
}

export const heartbeatClaim = {
  name: 'heartbeat_claim',
  group: 'claim',
  verb: 'heartbeat',
  summary: 'Still at it: keeps your claim from being taken for stale. With iteration, that one is done.',
  route: { method: 'POST', path: '/claims/heartbeat' },
  mutates: true,
  proven: true,
  standard: false,
  positional: ['feature', 'edge'],
  examples: [
    'cox claim heartbeat REQ-F-AUTH-001 design_code',
    'cox claim heartbeat REQ-F-AUTH-001 design_code --iteration 3 --note "tests red"',
  ],
  sample: { feature: 'REQ-F-AUTH-001', edge: 'design_code', iteration: 3 },
  input: async () => (await import('../schemas/claim-schemas.ts')).heartbeatClaim,
  async handle(input, step) {
    const { iteration, note } = input;
    const answer = await withGrant(input, step, (command) => beat({ ...command, iteration, note }));
    if (!isRefusal(answer)) step.grants.remember(grantOf(input), answer.fencing_token as number);
    return answer;
  },
} satisfies Operation<HeartbeatInput>;

export const releaseEdge = {
  name: 'release_edge',
  group: 'claim',
  verb: 'release',
  summary: 'Give up an edge you have claimed, unfinished; another agent can take it.',
  route: { method: 'POST', path: '/claims/release' },
  mutates: true,
  proven: true,
  standard: false,
  winds_down: true,
  positional: ['feature', 'edge'],
  examples: ['cox claim release REQ-F-AUTH-001 design_code --reason "needs the new API first"'],
  sample: { feature: 'REQ-F-AUTH-001', edge: 'design_code' },
  input: async () => (await import('../schemas/claim-schemas.ts')).releaseEdge,
  async handle(input, step) {
    const { reason } = input;
    const answer = await withGrant(input, step, (command) => release({ ...command, reason }));
    if (!isRefusal(answer)) forgetEnded(answer, input, step);
    return answer;
  },
} satisfies Operation<KeepClaimInput & { reason?: string | undefined }>;

export interface ConvergeInput extends KeepClaimInput {
  iteration?: number | undefined;
  evaluators?: ClaimEvaluators | undefined;
  convergence_type?: string | undefined;
}

export const convergeEdge = {
  name: 'converge_edge',
  group: 'claim',
  verb: 'converge',
  summary:
    'The edge is done: all evaluators pass. Frees the claim; what your role may not converge waits for a person.',
  route: { method: 'POST', path: '/claims/converge' },
  mutates: true,
  proven: true,
  standard: false,
  winds_down: true,
  positional: ['feature', 'edge'],
  examples: [
    'cox claim converge REQ-F-AUTH-001 design_code --evaluators 3/3 --iteration 4',
    `cox claim converge REQ-F-AUTH-001 design_code --evaluators '[{"name":"unit","passed":true}]'`,
  ],
  sample: { feature: 'REQ-F-AUTH-001', edge: 'design_code', evaluators: '3/3', iteration: 4 },
  input: async () => (await import('../schemas/claim-schemas.ts')).convergeEdge,
  async handle(input, step) {
    const { iteration, evaluators, convergence_type } = input;
    const answer = await withGrant(input, step, (command) =>
      converge({ ...command, iteration, evaluators, convergence_type }),
    );
    if (!isRefusal(answer)) {
      forgetEnded(answer, input, step);
      return { ...answer, ...(await showConverged(step, input)) };
    }
    if (answer.action === 'convergence_escalated') {
      if (typeof answer.fencing_token === 'number')
        step.grants.remember(grantOf(input), answer.fencing_token);
      step.announce();
    }
    return answer;
  },
} satisfies Operation<ConvergeInput>;
