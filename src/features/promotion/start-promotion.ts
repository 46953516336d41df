import { sha256 } from '../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused, type Verdict } from '../../ledger/decision.ts';
import type { EntityKey } from '../../ledger/entity.ts';
import { type Caller, type Lease, standing } from '../../ledger/lease.ts';
import { type ClaimRules, type ClaimState, claimKey, normEdge, normFeature } from '../claims/index.ts';
import { blocked, decideWith, type Findings } from '../locks/index.ts';
import {
  type ApprovalState,
  approvalId,
  approvalKey,
  forbids,
  permits,
  useEvent,
  waits,
} from '../trust/approvals/index.ts';
import { askEvents, PROMOTION_APPROVAL, waitsForPerson, wantedApproval } from './promotion-approval.ts';
import { type PromotionEvaluators, refuseUnpassed } from './promotion-evaluators.ts';
import { gatesOf, type PromotionGate, requiredEvaluators } from './promotion-gates.ts';
import { type PromotedFile, promotionEvent } from './state.ts';
import { alreadyUnderWay, openedEvent, underWay, underWayKey } from './under-way.ts';

export interface DraftedFile extends PromotedFile {
  /** Under which its lock is kept; one file, one key. */
  readonly key: string;
  /** Relative to the assets. */
  readonly asset: string;
}

/** Plain JSON: another process may decide it for us. */
export interface PromotionAsked {
  readonly promotion_id: string;
  readonly caller: Caller;
  readonly feature: string;
  readonly edge: string;
  readonly files: readonly DraftedFile[];
  readonly evaluators?: PromotionEvaluators | undefined;
  readonly rules: ClaimRules;
  /** Of all files, secrets masked: what a person would be shown. */
  readonly diff: string;
  /** What is dangerous about the contents, whatever the rules say: it is for a person. */
  readonly dangers: readonly { readonly path?: string | undefined; readonly reason: string }[];
}

/** Exactly what would be done: these drafts, over these assets, for this. */
function promotionHash({ feature, edge, files }: PromotionAsked): string {
  const what = files.map(({ path, draft_hash, old_hash }) => ({ path, draft_hash, old_hash }));
  return sha256(canonical({ feature: normFeature(feature), edge: normEdge(edge), files: what }));
}

/**
 * Whether the drafts may replace the assets, decided in the commit that looks at the claim, the locks and the approval: none of
 * them can be gone when it takes effect. It changes no file itself; who asked does that next.
 */
export function startPromotion(asked: PromotionAsked): Decision<JsonObject> {
  const { caller, files, feature, edge } = asked;
  const requested_by = caller.agent_id;
  const approval = approvalKey(
    approvalId({ kind: PROMOTION_APPROVAL, requested_by, hash: promotionHash(asked) }),
  );
  const wish = { areas: files.map(({ key }) => ({ place: key })), caller };
  const locks = decideWith(wish, (findings, loaded, now_ms) => {
    const held = heldByOthers(asked, findings, now_ms);
    return held === undefined ? decide(asked, approval, loaded, now_ms) : refused(held);
  });
  const claim = claimKey(feature, edge);
  return {
    needs: {
      keys: [claim, underWayKey, approval, ...(locks.needs.keys ?? [])],
      ranges: locks.needs.ranges ?? [],
    },
    decide(loaded, now_ms) {
      const state = loaded.get<ClaimState>(claim)?.state;
      const problem =
        refuseUnclaimed(asked, state, now_ms) ??
        refuseUnpassed(asked.evaluators, requiredEvaluators(asked.rules, edge));
      return problem === undefined ? locks.decide(loaded, now_ms) : refused(problem);
    },
  };
}

function refuseUnclaimed(
  { caller, feature, edge }: PromotionAsked,
  state: ClaimState | undefined,
  now_ms: number,
): Refusal | undefined {
  const now = standing(state?.lease, caller, now_ms);
  const what = `${normFeature(feature)} ${normEdge(edge)}`;
  const about = { feature: normFeature(feature), edge: normEdge(edge) };
  switch (now.standing) {
    case 'mine':
      return undefined;
    case 'free':
      return refuse('edge_not_started', `You do not hold the claim on ${what}.`, about);
    case 'superseded':
      return refuse('superseded', `Your claim on ${what} is over; a newer one exists.`, about);
    case 'taken':
      return refuse('not_holder', `${what} is claimed by ${now.lease.agent_id}.`, {
        ...about,
        held_by: now.lease.agent_id,
      });
  }
}

/** Who only waits for a lock does not stand in the way: this is done before it would be its turn. */
function heldByOthers(
  { caller, files }: PromotionAsked,
  findings: Findings,
  now_ms: number,
): Refusal | undefined {
  const blockers = findings.blockers.filter(({ lease }) => lease !== undefined);
  if (blockers.length === 0) return undefined;
  const wish = { areas: [], caller, single: files.length === 1 };
  return blocked(wish, { ...findings, blockers }, now_ms);
}

function decide(
  asked: PromotionAsked,
  approval: EntityKey,
  loaded: Loaded,
  now_ms: number,
): Verdict<JsonObject> {
  const busy = refuseUnderWay(asked, loaded);
  if (busy !== undefined) return refused(busy);
  const claim = loaded.get<ClaimState>(claimKey(asked.feature, asked.edge))?.state;
  const lease = claim?.lease as Lease;
  const gates = allGates(asked, claim?.agent_role);
  if (gates.length === 0) return started(asked, lease.expires_at_ms);
  const { caller, feature, edge, diff, files, promotion_id } = asked;
  const want = wantedApproval({
    feature: normFeature(feature),
    edge: normEdge(edge),
    requested_by: caller.agent_id,
    hash: promotionHash(asked),
    diff,
    gates,
    files: files.map(({ path }) => path),
  });
  const record = loaded.get<ApprovalState>(approval);
  if (record !== undefined && permits(record, want, now_ms)) {
    const by = { approved_by: record.state.decided_by, approval_id: record.id };
    const until_ms = Math.min(lease.expires_at_ms, record.state.expires_at_ms);
    return started(asked, until_ms, by, [useEvent(want, caller)]);
  }
  if (forbids(record, want, now_ms)) return refused(waitsForPerson(want, gates, record));
  if (waits(record, want, now_ms)) return refused(waitsForPerson(want, gates, undefined));
  return commit(askEvents(want, caller, promotion_id), waitsForPerson(want, gates, undefined));
}

function allGates(asked: PromotionAsked, agent_role: string | undefined): PromotionGate[] {
  const files = asked.files.map(({ asset, path, old_hash }) => ({ asset, path, is_new: old_hash === null }));
  const dangers = asked.dangers.map(
    ({ path, reason }): PromotionGate => ({
      gate: 'dangerous',
      ...(path === undefined ? {} : { path }),
      reason,
    }),
  );
  return [...gatesOf(asked.rules, { edge: asked.edge, agent_role }, files), ...dangers];
}

function refuseUnderWay({ files }: PromotionAsked, loaded: Loaded): Refusal | undefined {
  const keys = files.map(({ key }) => key);
  const busy = alreadyUnderWay(keys, loaded);
  if (busy !== undefined)
    return refuse('promotion_under_way', `${busy.key} is being promoted already.`, {
      file_path: busy.key,
      promotion_id: busy.promotion_id,
    });
  if (underWay(loaded).length < limits.promotions_under_way_max) return undefined;
  const message = `${limits.promotions_under_way_max} promotions are under way; none of them could be finished.`;
  return refuse('promotion_under_way', message);
}

function started(
  { promotion_id, caller, feature, edge, files }: PromotionAsked,
  not_after_ms: number,
  approved: { approved_by?: string | undefined; approval_id?: string } = {},
  used: ReturnType<typeof useEvent>[] = [],
): Verdict<JsonObject> {
  const about = { feature: normFeature(feature), edge: normEdge(edge), ...approved };
  const promoted = files.map(({ path, draft_hash, old_hash }) => ({ path, draft_hash, old_hash }));
  const data = { ...about, agent_id: caller.agent_id, files: promoted };
  return commit(
    [
      promotionEvent(promotion_id, 'promotion_started', data),
      openedEvent(
        promotion_id,
        files.map(({ key }) => key),
      ),
      ...used,
    ],
    { success: true, action: 'promotion_started', promotion_id, ...about },
    not_after_ms,
  );
}
