import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst } from '../../ledger/index-order.ts';

/** One asset that a draft is to replace. Hashes, not contents: the log says what became of a file, not what is in it. */
export interface PromotedFile {
  /** From the top of the repository. */
  readonly path: string;
  readonly draft_hash: string;
  /** Of the asset as it was; null: there was none. */
  readonly old_hash: string | null;
}

/**
 * Drafts on their way to the shared assets. It is in the log before the first asset changes, so that a process that finds it there
 * unfinished can finish it, and it says of each asset what it may be: the old one or the new one.
 */
export interface PromotionState {
  readonly feature: string;
  readonly edge: string;
  readonly agent_id: string;
  readonly files: readonly PromotedFile[];
  readonly approved_by?: string | undefined;
  readonly status: 'started' | 'completed' | 'conflicted';
  readonly started_at_ms: number;
  readonly ended_at_ms?: number | undefined;
  /** What stopped it, and which of the assets had been replaced by then. */
  readonly reason?: string | undefined;
  readonly published?: readonly string[] | undefined;
}

export type PromotionRecord = EntityRecord<PromotionState>;

const PROMOTION = 'promotion';

export function promotionKey(id: string): EntityKey {
  return { kind: PROMOTION, id };
}

export function promotionEvent(id: string, type: string, data: EventBody['data']): EventBody {
  return { ...promotionKey(id), type, data };
}

/** Names hold no line breaks: no name is the beginning of another one's key. */
const ofAgent = (agent_id: string) => `${agent_id}\n`;

export const promotionEntity: EntityType<PromotionState> = {
  kind: PROMOTION,
  evolve(state, event, at_ms) {
    if (event.type === 'promotion_started')
      return { ...(event.data as unknown as PromotionState), status: 'started', started_at_ms: at_ms };
    if (state === undefined) throw new Error(`promotion ${event.id}: ${event.type} before it was started`);
    const { reason, published } = event.data as Partial<PromotionState>;
    switch (event.type) {
      case 'promotion_completed':
        return { ...state, status: 'completed', ended_at_ms: at_ms };
      case 'promotion_conflicted':
        return { ...state, status: 'conflicted', ended_at_ms: at_ms, reason, published };
      default:
        throw new Error(`unknown event of a promotion: ${event.type}`);
    }
  },
  index({ status, started_at_ms, agent_id }) {
    const when = newestFirst(started_at_ms);
    return { sort: `${status}/${when}`, group: `${ofAgent(agent_id)}${when}` };
  },
};

export function describePromotion({ id, state }: PromotionRecord): JsonObject {
  const { feature, edge, agent_id, status, files, approved_by, reason, started_at_ms, published } = state;
  return {
    promotion_id: id,
    feature,
    edge,
    agent_id,
    status,
    files: files.map(({ path }) => path),
    approved_by,
    started_at: isoTime(started_at_ms),
    reason,
    published: published === undefined ? undefined : [...published],
  };
}
