import { sha256 } from '../../../kernel/hash.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refuse, StoreFailure } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import { keyText } from '../../../ledger/entity.ts';
import type { Step } from '../../../runtime/operation.ts';
import type { AssetPlace } from '../../../storage/storage-place.ts';
import { claimKey } from '../../claims/index.ts';
import { assessEdit } from '../../guardrails/edits/index.ts';
import { startPromotion } from '../commands.ts';
import type { PromotionEvaluators } from '../promotion-evaluators.ts';
import type { PromotionAsked } from '../start-promotion.ts';
import type { PromotionRecord } from '../state.ts';
import { diffOf } from './draft-diff.ts';
import { type DraftPlace, whereOf } from './draft-place.ts';
import {
  type Drafted,
  problemText,
  type Selection,
  selectDrafts,
  shownProblems,
  unwritable,
} from './drafted.ts';
import { finishAll, finishPromotion } from './finish-promotion.ts';

export interface PromoteInput {
  feature: string;
  edge: string;
  paths?: string[] | undefined;
  evaluators?: PromotionEvaluators | undefined;
  fencing_token?: number | undefined;
}

/** Drafts become assets: looked at, staged, decided, written; in this order, so that nothing is lost wherever it stops. */
export async function promote(input: PromoteInput, step: Step): Promise<JsonObject> {
  const where = await whereOf(step);
  if ('success' in where) return where;
  await finishAll(step, where.place);
  const selected = await selectDrafts(step, where, step.caller.agent_id, input.paths);
  if ('success' in selected) return selected;
  const problem = refuseSelection(selected);
  if (problem !== undefined) return problem;
  const staging = { agent_id: step.caller.agent_id, promotion_id: step.ids.uuid() };
  try {
    await where.place.stage(
      staging,
      selected.drafted.map(({ contents }) => contents),
    );
  } catch (error) {
    await where.place.unstage(staging).catch(() => {});
    return unwritable('The drafts can’t be put aside', error);
  }
  // What it throws leaves open whether it was committed; then the staged contents stay.
  const asked = askedFor(input, step, where, selected.drafted, staging.promotion_id);
  const modifies = selected.drafted.map(({ key }) => key);
  const answer = answerOf(await step.run(startPromotion(asked), { modifies }));
  const { promotion_id } = answer;
  if (promotion_id !== staging.promotion_id || isRefusal(answer))
    await where.place.unstage(staging).catch(() => {});
  if (answer.approval_status === 'pending') step.announce();
  if (isRefusal(answer)) return answer;
  return await conclude(step, where.place, String(promotion_id), selected);
}

function askedFor(
  { feature, edge, evaluators, fencing_token }: PromoteInput,
  step: Step,
  { rules }: DraftPlace,
  drafted: readonly Drafted[],
  promotion_id: string,
): PromotionAsked {
  const { agent_id, agent_type, session_id } = step.caller;
  const token = fencing_token ?? step.grants.of(keyText(claimKey(feature, edge)));
  return {
    promotion_id,
    caller: { agent_id, agent_type, session_id, token },
    feature,
    edge,
    files: drafted.map(({ path, key, asset, draft_hash, old_hash }) => ({
      path,
      key,
      asset,
      draft_hash,
      old_hash,
    })),
    evaluators,
    rules,
    diff: diffOf(drafted),
    dangers: drafted.flatMap(dangersOf),
  };
}

/** What a hook would stop in an edit is for a person here, too: promoting is no way around it. */
export function dangersOf({ path, contents }: Drafted): { path: string; reason: string }[] {
  const text = Buffer.from(contents.bytes).toString('utf8');
  const reasons = new Set(assessEdit([path], [text]).map(({ reason }) => reason));
  return [...reasons].map((reason) => ({ path, reason }));
}

function refuseSelection(selected: Selection): Refusal | undefined {
  const { drafted, problems, unchanged } = selected;
  const [first] = problems;
  if (first !== undefined)
    return refuse('draft_unusable', `${JSON.stringify(first.path)}: ${first.problem}`, {
      problems: shownProblems(selected),
    });
  if (drafted.length === 0)
    return refuse('no_drafts', 'You have no drafts that differ from the assets.', {
      unchanged: [...unchanged],
    });
  if (drafted.length <= limits.promotion_files_max) return undefined;
  const message = `${drafted.length} drafts are more than the ${limits.promotion_files_max} of one promotion; name some of them.`;
  return refuse('too_large', message, { field: 'paths' });
}

async function conclude(
  step: Step,
  place: AssetPlace,
  promotion_id: string,
  selected: Selection,
): Promise<JsonObject> {
  let record: PromotionRecord | undefined;
  try {
    record = await finishPromotion(step, place, promotion_id);
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    return refuse('promotion_unfinished', `It was begun and is not finished: ${problemText(error)}`, {
      promotion_id,
    });
  }
  if (record === undefined) return refuse('internal_error', `Promotion ${promotion_id} is not in the log.`);
  const { feature, edge, files, status, reason, approved_by, published } = record.state;
  if (status !== 'completed')
    return refuse('promotion_conflicted', reason ?? 'An asset has changed.', {
      promotion_id,
      published: [...(published ?? [])],
    });
  await discardPromoted(step, place, selected);
  const promoted = files.map(({ path }) => path);
  return { success: true, action: 'promoted', promotion_id, feature, edge, files: promoted, approved_by };
}

/** What has become an asset is no draft any more, unless its agent has gone on writing it. */
async function discardPromoted(
  step: Step,
  place: AssetPlace,
  { drafted, unchanged }: Selection,
): Promise<void> {
  const { agent_id } = step.caller;
  try {
    const done = [...unchanged];
    for (const { draft, draft_hash } of drafted) {
      const now = await place.readDraft(agent_id, draft);
      if (now !== undefined && sha256(now.bytes) === draft_hash) done.push(draft);
    }
    await place.discardDrafts(agent_id, done);
  } catch {
    // It is promoted. A draft that stays is shown as unchanged.
  }
}
