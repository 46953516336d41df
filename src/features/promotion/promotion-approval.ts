import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import {
  type ApprovalRecord,
  noticeEvent,
  requestEvent,
  type Wanted,
  wanted,
} from '../trust/approvals/index.ts';
import type { PromotionGate } from './promotion-gates.ts';

export const PROMOTION_APPROVAL = 'promotion';

/** What a person is asked about a promotion. */
export interface PromotionQuestion {
  readonly feature: string;
  readonly edge: string;
  readonly requested_by: string;
  /** Of the exact drafts and of the assets that they would replace: with either changed it is another question. */
  readonly hash: string;
  /** Of each file, secrets masked. */
  readonly diff: string;
  readonly gates: readonly PromotionGate[];
  readonly files: readonly string[];
}

export function wantedApproval(question: PromotionQuestion): Wanted {
  const { feature, edge, requested_by, hash, diff, gates, files } = question;
  const reasons = gates.map(({ reason, path }) => (path === undefined ? reason : `${path}: ${reason}`));
  const shown = {
    kind: PROMOTION_APPROVAL,
    operation: 'promote_draft',
    findings: [],
    subject: `${feature} ${edge}: ${files.length === 1 ? files[0] : `${files.length} files`}`,
    context: { feature, edge, files: [...files], reasons, diff },
    requested_by,
    hash,
  };
  return wanted(shown, limits.approval_hours_default * 3600 * 1000);
}

/** The events that put it into the queue; `asked_as` tells this notice from every other. */
export function askEvents(want: Wanted, by: Actor, asked_as: string): EventBody[] {
  const { operation, subject } = want.shown;
  const notice = { about: 'approval' as const, operation, subject, approval_id: want.id };
  return [requestEvent(want, by), noticeEvent(`${PROMOTION_APPROVAL}\n${asked_as}`, by, notice)];
}

/** What the agent is told until a person approves. */
export function waitsForPerson(
  want: Wanted,
  gates: readonly PromotionGate[],
  denied: ApprovalRecord | undefined,
): Refusal {
  const about: JsonObject = {
    approval_id: want.id,
    approval_required: true,
    approval_status: denied === undefined ? 'pending' : 'denied',
    gates: [...gates],
  };
  if (denied === undefined)
    return refuse('approval_required', `${want.shown.subject}: it waits for a person as ${want.id}.`, about);
  const { decided_by, decision_reason } = denied.state;
  const message = `${want.shown.subject}: a person has denied it: ${decision_reason ?? ''}`;
  return refuse('approval_required', message, { ...about, decided_by, decision_reason });
}
