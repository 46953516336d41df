import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import {
  commit,
  type Decision,
  type Loaded,
  type Needs,
  prefixed,
  type Range,
  refused,
} from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType } from '../../ledger/entity.ts';
import { inIndexOrder, newestFirst } from '../../ledger/index-order.ts';
import type { Caller } from '../../ledger/lease.ts';
import { defineService } from '../../runtime/service.ts';

/** One recipient's copy of a message: each is read and acknowledged separately. */
export interface Message {
  message_id: string;
  thread_id: string;
  from: string;
  to: string;
  /** All recipients, if there is more than one. */
  recipients?: string[] | undefined;
  /** How they were addressed, if not by name: `capability:typescript`, `team`, `reviewers`. */
  addressed_to?: string | undefined;
  subject?: string | undefined;
  body: string;
  in_reply_to?: string | undefined;
  sent_at_ms: number;
  acknowledged_at_ms?: number | undefined;
}

export const MESSAGE = 'message';

/** Names contain no line breaks, so no name is a prefix of another name's key. */
const unread = (agent_id: string) => `unread/${agent_id}\n`;
const seen = (agent_id: string) => `seen/${agent_id}\n`;
const thread = (thread_id: string) => `${thread_id}\n`;
/** What an agent sent or received in a thread. */
const part = (thread_id: string, agent_id: string) => `${thread(thread_id)}${agent_id}\n`;

export const messageEntity: EntityType<Message> = {
  kind: MESSAGE,
  evolve(state, event, at_ms) {
    if (event.type === 'message_sent') return { ...(event.data as unknown as Message), sent_at_ms: at_ms };
    if (event.type !== 'message_acknowledged' || state === undefined)
      throw new Error(`unknown event of a message: ${event.type}`);
    return { ...state, acknowledged_at_ms: at_ms };
  },
  index(state) {
    const { thread_id, from, to, sent_at_ms, acknowledged_at_ms } = state;
    const box = acknowledged_at_ms === undefined ? unread : seen;
    const when = newestFirst(sent_at_ms);
    const links = [...new Set([from, to])].map((agent_id) => `${part(thread_id, agent_id)}${when}`);
    // Equal keys are in the order of sending.
    return { sort: box(to), group: thread(thread_id), links };
  },
};

function messageKey(message_id: string, to: string): EntityKey {
  return { kind: MESSAGE, id: `${message_id}\n${to}` };
}

/** The caller's copy of a message, as a key to look it up by. */
export function receivedKey(message_id: string, { agent_id }: Pick<Caller, 'agent_id'>): EntityKey {
  return messageKey(message_id, agent_id);
}

export interface NewMessage {
  readonly message_id: string;
  readonly thread_id: string;
  readonly to: readonly string[];
  readonly addressed_to?: string | undefined;
  readonly subject?: string | undefined;
  readonly body: string;
  readonly in_reply_to?: string | undefined;
}

export function sendMessage(caller: Caller, message: NewMessage): Decision<JsonObject> {
  const { to, message_id, thread_id } = message;
  return {
    needs: { keys: to.map((name) => messageKey(message_id, name)) },
    decide() {
      const events = to.map((name) => ({
        ...messageKey(message_id, name),
        type: 'message_sent',
        data: {
          ...message,
          from: caller.agent_id,
          to: name,
          recipients: to.length === 1 ? undefined : [...to],
        } as JsonObject,
      }));
      return commit(events, { success: true, message_id, thread_id, recipients: [...to] });
    },
  };
}

/**
 * Unread messages come first, oldest first; `all` adds the acknowledged ones after them; a thread has both.
 */
export function inboxRanges(agent_id: string, which: Inbox): Range[] {
  if (which.thread_id !== undefined) return threadRanges(agent_id, which.thread_id, which.limit);
  const boxes = which.all ? [unread, seen] : [unread];
  return boxes.map((box) => prefixed('sort', MESSAGE, box(agent_id), which.limit));
}

function threadRanges(agent_id: string, thread_id: string, limit: number): Range[] {
  return [
    // The newest of the caller's part of the thread, however many copies to other agents there are. Within
    // one millisecond the oldest come first, but the newest are wanted: so a few more are read than are
    // shown.
    prefixed('link', MESSAGE, part(thread_id, agent_id), limit + limits.entities_per_commit),
    // The beginning of the whole thread: messages sent by a Coxswain version that did not write those links
    // are found only here.
    prefixed('group', MESSAGE, thread(thread_id), limits.range_rows_max),
  ];
}

/** All unacknowledged messages, for any recipient. */
export function unreadRange(limit: number): Range {
  return prefixed('sort', MESSAGE, 'unread/', limit);
}

export interface Inbox {
  readonly thread_id?: string | undefined;
  readonly all: boolean;
  readonly limit: number;
}

export function listMessages(agent_id: string, which: Inbox, loaded: Loaded): JsonObject[] {
  const records = inboxRanges(agent_id, which).flatMap((range) => loaded.list<Message>(range));
  // An inbox empties as its messages are acknowledged; a thread only grows, and its end is the current state.
  const shown =
    which.thread_id === undefined
      ? records.slice(0, which.limit)
      : partOf(agent_id, records).slice(-which.limit);
  return shown.map(describe);
}

/**
 * What the agent took part in. Copies to other agents are included only for messages it sent. Each message
 * once, in the order of sending.
 */
function partOf(agent_id: string, records: readonly EntityRecord<Message>[]): EntityRecord<Message>[] {
  const mine = records.filter(({ state }) => state.to === agent_id || state.from === agent_id);
  const each = new Map(mine.map((record) => [record.id, record]));
  return [...each.values()].sort((a, b) => inIndexOrder('', a, '', b));
}

function describe({ state }: EntityRecord<Message>): JsonObject {
  const { sent_at_ms, acknowledged_at_ms, ...rest } = state;
  return {
    ...rest,
    sent_at: isoTime(sent_at_ms),
    acknowledged_at: acknowledged_at_ms === undefined ? undefined : isoTime(acknowledged_at_ms),
  };
}

/** Acknowledging twice is no error: the first time counts. */
export function acknowledgeMessages(caller: Caller, message_ids: readonly string[]): Decision<JsonObject> {
  const keys = message_ids.map((id) => messageKey(id, caller.agent_id));
  return {
    needs: { keys },
    decide(loaded) {
      const unknown = message_ids.find((id) => loaded.get(messageKey(id, caller.agent_id)) === undefined);
      if (unknown !== undefined)
        return refused(
          refuse('unknown_message', `There is no message ${unknown} for you.`, { message_id: unknown }),
        );
      const events = keys
        .filter((key) => loaded.get<Message>(key)?.state.acknowledged_at_ms === undefined)
        .map((key) => ({ ...key, type: 'message_acknowledged', data: {} }));
      return commit(events, { success: true, acknowledged: events.length });
    },
  };
}

type Find = (needs: Needs) => Promise<{ loaded: Loaded }>;

/** The agents with a capability whose sessions are alive, by name; the sessions slice knows them. */
export const capableAgentsService =
  defineService<(capability: string, find: Find) => Promise<string[]>>('agents by capability');
