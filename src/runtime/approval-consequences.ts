import { decideRework, REWORK_APPROVAL } from '../features/board/rework.ts';
import { CONVERGENCE_APPROVAL } from '../features/claims/escalation.ts';
import { reviewConvergence } from '../features/claims/review-convergence.ts';
import { showConverged } from '../features/claims/views/show-converged.ts';
import type { ApprovalConsequences, Consequence } from '../features/trust/approvals/decide-approval.ts';
import { decideRun } from '../features/verification/execute.ts';
import { VERIFICATION_APPROVAL } from '../features/verification/verification-approval.ts';

/** What an approval is about is decided together with it, in one commit: a run, a convergence, another round. */
export const consequence: Consequence = (approval, decided) => {
  const { verdict, decided_by, reason } = decided;
  switch (approval.kind) {
    case VERIFICATION_APPROVAL:
      return decideRun(approval.context.run_id as string, verdict === 'approved', decided_by, reason);
    case CONVERGENCE_APPROVAL:
      return reviewConvergence(approval, decided);
    case REWORK_APPROVAL:
      return decideRework(approval, decided);
    default:
      return undefined;
  }
};

export const consequences: ApprovalConsequences = {
  decide: consequence,
  // An approval may have converged an edge, which the fleet's files then show.
  afterwards: async (answer, step) =>
    answer.outcome === 'converged' ? { ...answer, ...(await showConverged(step)) } : answer,
};
