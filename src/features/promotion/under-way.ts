import { sha256 } from '../../kernel/hash.ts';
import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';

/** What is being promoted now. The assets by the beginnings of their hashes: paths are long, and this is one record. */
interface UnderWay {
  readonly promotion_id: string;
  readonly assets: readonly string[];
}

/**
 * All promotions that were started and not ended, in one record. The start of one expects it unchanged, so that no two
 * write the same asset; and the next process finds here what a crash has left to be finished.
 */
export interface UnderWayState {
  readonly promotions: readonly UnderWay[];
}

export const underWayKey: EntityKey = { kind: 'promotions_under_way', id: 'all' };

export const underWayEntity: EntityType<UnderWayState> = {
  kind: underWayKey.kind,
  evolve(state, event) {
    const { promotion_id, assets } = event.data as unknown as UnderWay;
    const rest = (state?.promotions ?? []).filter((each) => each.promotion_id !== promotion_id);
    switch (event.type) {
      case 'promotion_opened':
        return { promotions: [...rest, { promotion_id, assets }] };
      case 'promotion_closed':
        return { promotions: rest };
      default:
        throw new Error(`unknown event of the promotions under way: ${event.type}`);
    }
  },
  index: () => ({}),
};

const marked = (key: string) => sha256(key).slice(0, 16);

/** `keys`: the assets' lock keys, in which one file has one spelling. */
export function openedEvent(promotion_id: string, keys: readonly string[]): EventBody {
  const data = { promotion_id, assets: keys.map(marked) };
  return { ...underWayKey, type: 'promotion_opened', data };
}

export function closedEvent(promotion_id: string): EventBody {
  return { ...underWayKey, type: 'promotion_closed', data: { promotion_id } };
}

export function underWay(loaded: Loaded): readonly UnderWay[] {
  return loaded.get<UnderWayState>(underWayKey)?.state.promotions ?? [];
}

/** The first of the assets that another promotion is writing already. */
export function alreadyUnderWay(
  keys: readonly string[],
  loaded: Loaded,
): { readonly key: string; readonly promotion_id: string } | undefined {
  for (const { promotion_id, assets } of underWay(loaded)) {
    const key = keys.find((each) => assets.includes(marked(each)));
    if (key !== undefined) return { key, promotion_id };
  }
  return undefined;
}
