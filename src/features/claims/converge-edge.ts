import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { type Decision, need, refused, type Verdict } from '../../ledger/decision.ts';
import { type ApprovalState, approvalKey, statusAt } from '../trust/approvals/index.ts';
import type { ClaimCommand } from './acting.ts';
import { type ClaimContext, commitUnder, decideOnClaim, named, type Own, ownGrant } from './claim-context.ts';
import { type ClaimEvaluators, evaluated } from './claim-evaluators.ts';
import { edgeTerms, mayConverge } from './claim-rules.ts';
import { claimEvent, type Escalation } from './edge-claim.ts';
import { type Converging, escalationOf } from './escalation.ts';

export interface ConvergeEdge extends ClaimCommand {
  readonly iteration?: number | undefined;
  readonly evaluators?: ClaimEvaluators | undefined;
  readonly convergence_type?: string | undefined;
}

type Held = Exclude<Own, { readonly refusal: Refusal }>;

/**
 * The holder says that the edge has converged. The holder, its role and the evaluators are checked here, in
 * the commit that frees the claim, whatever was checked when it was granted.
 */
export function convergeEdge(command: ConvergeEdge): Decision<JsonObject> {
  return decideOnClaim(command, (scene) => {
    const own = ownGrant(scene);
    if ('refusal' in own) return refused(own.refusal);
    const checked = evaluated(command, command.evaluators);
    if ('success' in checked) return refused(checked);
    const { iteration, convergence_type } = command;
    const converging = { iteration: iteration ?? own.state?.iteration, ...checked, convergence_type };
    const why = personsReason(scene);
    if (why !== undefined) return escalate(scene, own, why, converging);
    const outside = outsideReason(scene);
    if (outside === undefined) return converge(scene, own, converging);
    switch (command.rules.outside_authority_action) {
      case 'warn':
        return converge(scene, own, converging, [outside]);
      case 'reject':
        return refused(refuse('outside_authority', `${outside} The claim is still yours.`, about(scene)));
      default:
        return escalate(scene, own, outside, converging);
    }
  });
}

/** On some edges a person always decides; no role and no setting lifts that. */
function personsReason({ command }: ClaimContext): string | undefined {
  const isPersons = edgeTerms(command.rules, command.edge).human_required === true;
  return isPersons ? `${command.edge.trim()} is for a person to converge.` : undefined;
}

function outsideReason({ command, agent_role }: ClaimContext): string | undefined {
  const edge = command.edge.trim();
  if (agent_role === undefined) return `Without a role nobody converges ${edge}.`;
  if (mayConverge(command.rules, agent_role, command.edge)) return undefined;
  if (!Object.hasOwn(command.rules.roles, agent_role))
    return `The role ${agent_role} is defined nowhere, so it converges nothing.`;
  return `The role ${agent_role} does not converge ${edge}.`;
}

function about({ command, caller, agent_role }: ClaimContext): JsonObject {
  return { ...named(command), agent_id: caller.agent_id, agent_role: agent_role ?? null };
}

function converge(
  scene: ClaimContext,
  own: Held,
  converging: Converging,
  warnings: readonly string[] = [],
): Verdict<JsonObject> {
  const { command, caller, agent_role, now_ms } = scene;
  const data = { agent_id: caller.agent_id, agent_role, ...converging };
  return commitUnder(own, [claimEvent(command, 'edge_converged', data)], {
    success: true,
    action: 'edge_converged',
    ...about(scene),
    ...converging,
    converged_at: isoTime(now_ms),
    fencing_token: own.lease.token,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  });
}

function escalate(
  scene: ClaimContext,
  own: Held,
  reason: string,
  converging: Converging,
): Verdict<JsonObject> {
  const pending = own.state?.escalation;
  if (pending !== undefined) {
    const key = approvalKey(pending.approval_id);
    if (!scene.loaded.hasKey(key)) return need({ keys: [key] });
    const asked = scene.loaded.get<ApprovalState>(key)?.state;
    // Ask once only, until the question has expired.
    if (asked !== undefined && statusAt(asked, scene.now_ms) === 'pending')
      return refused(escalated(scene, pending));
  }
  const { approval_id, events } = escalationOf(scene, own.lease, reason, converging);
  return commitUnder(own, events, {
    ...escalated(scene, { approval_id, reason }),
    fencing_token: own.lease.token,
  });
}

function escalated(
  scene: ClaimContext,
  { approval_id, reason }: Pick<Escalation, 'approval_id' | 'reason'>,
): Refusal {
  const message = `${reason} It waits for a person as ${approval_id}.`;
  return refuse('convergence_escalated', message, { ...about(scene), reason, approval_id });
}
