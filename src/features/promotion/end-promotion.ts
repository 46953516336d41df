import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import { describePromotion, type PromotionState, promotionEvent, promotionKey } from './state.ts';
import { closedEvent, underWayKey } from './under-way.ts';

/** What the process that wrote the files found. Without a conflict every asset is the new one. */
export interface PromotionEnd {
  readonly promotion_id: string;
  readonly conflict?: { readonly reason: string; readonly published: readonly string[] } | undefined;
}

/** Ended once: of several who finish what a crash has left, the first one says how it ended. */
export function endPromotion({ promotion_id, conflict }: PromotionEnd): Decision<JsonObject> {
  const key = promotionKey(promotion_id);
  return {
    needs: { keys: [key, underWayKey] },
    decide(loaded) {
      const record = loaded.get<PromotionState>(key);
      if (record === undefined) return refused(refuse('wrong_status', `No promotion ${promotion_id}.`));
      if (record.state.status !== 'started')
        return refused(
          refuse('wrong_status', `It is ${record.state.status} already.`, describePromotion(record)),
        );
      const event =
        conflict === undefined
          ? promotionEvent(promotion_id, 'promotion_completed', {})
          : promotionEvent(promotion_id, 'promotion_conflicted', {
              reason: conflict.reason,
              published: [...conflict.published],
            });
      return commit([event, closedEvent(promotion_id)], { success: true, promotion_id });
    },
  };
}
