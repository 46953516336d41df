import { decideRework, REWORK_APPROVAL } from '../features/board/index.ts';
import { CONVERGENCE_APPROVAL, reviewConvergence } from '../features/claims/index.ts';
import { showConverged } from '../features/claims/views/index.ts';
import type { ApprovalConsequences, Consequence } from '../features/trust/approvals/index.ts';
import { decideRun, VERIFICATION_APPROVAL } from '../features/verification/index.ts';

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
    answer.outcome === 'converged'
      ? {
          ...answer,
          ...(await showConverged(step, { feature: String(answer.feature), edge: String(answer.edge) })),
        }
      : answer,
};
