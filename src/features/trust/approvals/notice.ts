import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { refuse } from '../../../kernel/refusal.ts';
import { commit, type Decision, type Range, refused } from '../../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../../ledger/entity.ts';
import { newestFirst } from '../../../ledger/index-order.ts';
import type { Actor } from '../../../ledger/log.ts';

/** How far one channel has got with one notice. */
interface Delivery {
  readonly status: 'claimed' | 'sent' | 'failed';
  readonly attempts: number;
  readonly at_ms: number;
  readonly error?: string | undefined;
}

/** Something people should hear of, written in the commit that raises it. */
export interface Notice {
  /**
   * `approval`: a person has to decide. `elevated`: something dangerous went ahead on its agent's trust.
   * `stale`: the holder of a claim is silent.
   */
  readonly about: 'approval' | 'elevated' | 'stale';
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
  readonly operation: string;
  readonly subject: string;
  readonly approval_id?: string | undefined;
  readonly raised_at_ms: number;
  readonly deliveries: Readonly<Record<string, Delivery>>;
}

export type NoticeRecord = EntityRecord<Notice>;

const NOTICE = 'notice';

/** A sender that was silent for this long has died while sending. */
const CLAIM_MS = 60_000;
/** After the first failure, after the second. */
const PAUSES_MS = [2_000, 10_000];

function noticeKey(id: string): EntityKey {
  return { kind: NOTICE, id };
}

export const noticeEntity: EntityType<Notice> = {
  kind: NOTICE,
  evolve(state, event, at_ms) {
    if (event.type === 'notice_raised')
      return { ...(event.data as unknown as Notice), raised_at_ms: at_ms, deliveries: {} };
    if (state === undefined) throw new Error(`notice ${event.id}: ${event.type} before it was raised`);
    const { channel, error } = event.data as { channel: string; error?: string };
    const before = state.deliveries[channel]?.attempts ?? 0;
    const put = (delivery: Delivery) => ({
      ...state,
      deliveries: { ...state.deliveries, [channel]: delivery },
    });
    switch (event.type) {
      case 'notice_claimed':
        return put({ status: 'claimed', attempts: before + 1, at_ms });
      case 'notice_sent':
        return put({ status: 'sent', attempts: before, at_ms });
      case 'notice_failed':
        return put({ status: 'failed', attempts: before, at_ms, error });
      default:
        throw new Error(`unknown event of a notice: ${event.type}`);
    }
  },
  index: (state) => ({ sort: newestFirst(state.raised_at_ms) }),
};

export function noticeEvent(
  id: string,
  by: Actor,
  what: Omit<Notice, keyof Actor | 'raised_at_ms' | 'deliveries'>,
) {
  const { agent_id, agent_type, session_id } = by;
  const data = { ...what, agent_id, agent_type, session_id };
  return { ...noticeKey(id), type: 'notice_raised', data } satisfies EventBody;
}

/** Newest first; a notice that is a day old is no longer news. */
export function freshNotices(now_ms: number): Range {
  const before = newestFirst(now_ms - limits.notice_fresh_ms);
  return { by: 'sort', kind: NOTICE, from: '', before, limit: limits.notices_per_round };
}

/** Undefined: never again. Otherwise the milliseconds until the channel may try. */
export function dueIn_ms({ state }: NoticeRecord, channel: string, now_ms: number): number | undefined {
  const delivery = state.deliveries[channel];
  if (delivery === undefined) return 0;
  const { status, attempts, at_ms } = delivery;
  if (status === 'sent' || attempts >= limits.notice_attempts_max) return undefined;
  const pause_ms = status === 'claimed' ? CLAIM_MS : (PAUSES_MS[attempts - 1] ?? CLAIM_MS);
  return Math.max(0, at_ms + pause_ms - now_ms);
}

/** The process that commits this is the one that sends. */
export function claimNotice(id: string, channel: string): Decision<JsonObject> {
  const key = noticeKey(id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<Notice>(key);
      if (record === undefined || dueIn_ms(record, channel, now_ms) !== 0)
        return refused(refuse('wrong_status', `Notice ${id} is not to be sent now.`));
      const attempt = (record.state.deliveries[channel]?.attempts ?? 0) + 1;
      const event = { ...key, type: 'notice_claimed', data: { channel } };
      return commit([event], { success: true, attempt, notice: describeNotice(record) });
    },
  };
}

export function concludeNotice(id: string, channel: string, error?: string): Decision<JsonObject> {
  const key = noticeKey(id);
  const type = error === undefined ? 'notice_sent' : 'notice_failed';
  return {
    needs: { keys: [key] },
    decide(loaded) {
      if (loaded.get<Notice>(key)?.state.deliveries[channel] === undefined)
        return refused(refuse('wrong_status', `Notice ${id} was never claimed for ${channel}.`));
      return commit([{ ...key, type, data: { channel, error } }], { success: true });
    },
  };
}

/** What a channel is told. `notice_id` is the same for every attempt. */
function describeNotice({ id, state }: NoticeRecord): JsonObject {
  const { deliveries: _, raised_at_ms, ...rest } = state;
  return { notice_id: id, ...rest, raised_at: isoTime(raised_at_ms) };
}
