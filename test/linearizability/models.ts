import type { JsonObject } from '../../src/kernel/json.ts';
import type { Sequential } from './wgl.ts';

/** What happened to one path, reduced to what a lock is. Times are so long that none of them runs out. */
export type LockCall = { readonly verb: 'acquire' | 'release' | 'check'; readonly agent_id: string };
export type LockAnswer = {
  readonly said: string;
  readonly holder?: string | undefined;
  readonly token?: number | undefined;
};

interface LockState {
  readonly holder: string | undefined;
  /** Every grant has a higher token than the one before it. */
  readonly token: number;
}

export const lockModel: Sequential<LockState, LockCall, LockAnswer> = {
  initial: { holder: undefined, token: 0 },
  text: ({ holder, token }) => `${holder} ${token}`,
  step(state, { verb, agent_id }, answer) {
    const { holder, token } = state;
    if (verb === 'check') return answer === undefined || answer.holder === holder ? state : undefined;
    if (verb === 'release') {
      const said = holder === undefined ? 'not_held' : holder === agent_id ? 'released' : 'not_holder';
      if (answer !== undefined && answer.said !== said) return undefined;
      return said === 'released' ? { holder: undefined, token } : state;
    }
    if (holder !== undefined && holder !== agent_id)
      return answer === undefined || (answer.said === 'blocked' && answer.holder === holder)
        ? state
        : undefined;
    const said = holder === undefined ? 'acquired' : 'refreshed';
    if (answer === undefined) return { holder: agent_id, token };
    if (answer.said !== said || answer.token === undefined) return undefined;
    const grown = said === 'acquired' ? answer.token > token : answer.token >= token;
    return grown ? { holder: agent_id, token: answer.token } : undefined;
  },
};

/** One type of task as a queue. Each task has a name of its own, so that also an unanswered submission is known. */
export type QueueCall =
  | { readonly verb: 'submit'; readonly name: string; readonly priority: number }
  | { readonly verb: 'get'; readonly agent_id: string }
  | { readonly verb: 'complete'; readonly agent_id: string; readonly name: string };
export type QueueAnswer = { readonly said: string; readonly name?: string | undefined };

interface QueueState {
  /** `priority name`, in the order in which they are handed out. */
  readonly waiting: readonly string[];
  /** `name agent`, sorted. */
  readonly claimed: readonly string[];
}

export const queueModel: Sequential<QueueState, QueueCall, QueueAnswer> = {
  initial: { waiting: [], claimed: [] },
  text: ({ waiting, claimed }) => `${waiting.join()}|${claimed.join()}`,
  step({ waiting, claimed }, call, answer) {
    if (call.verb === 'submit') {
      if (answer !== undefined && answer.said !== 'submitted') return undefined;
      const behind = waiting.findIndex((each) => Number.parseInt(each, 10) > call.priority);
      const place = behind < 0 ? waiting.length : behind;
      return { waiting: waiting.toSpliced(place, 0, `${call.priority} ${call.name}`), claimed };
    }
    if (call.verb === 'get') {
      const name = waiting[0]?.split(' ')[1];
      if (answer !== undefined && answer.name !== name) return undefined;
      if (name === undefined) return { waiting, claimed };
      return { waiting: waiting.slice(1), claimed: [...claimed, `${name} ${call.agent_id}`].sort() };
    }
    const held = `${call.name} ${call.agent_id}`;
    const said = claimed.includes(held) ? 'completed' : 'refused';
    if (answer !== undefined && answer.said !== said) return undefined;
    return { waiting, claimed: claimed.filter((each) => each !== held) };
  },
};

/** An answer of the product in the words of the lock's model. */
export function lockAnswer(answer: JsonObject): LockAnswer {
  const [lock] = (answer.locks as JsonObject[] | undefined) ?? [];
  const said = answer.released === true ? 'released' : String(answer.action ?? answer.error ?? 'checked');
  return {
    said,
    holder: (answer.locked_by ?? lock?.locked_by) as string | undefined,
    token: answer.fencing_token as number | undefined,
  };
}

export function queueAnswer(verb: QueueCall['verb'], answer: JsonObject): QueueAnswer {
  if (verb === 'submit') return { said: answer.success === true ? 'submitted' : 'refused' };
  if (verb === 'complete') return { said: answer.success === true ? 'completed' : 'refused' };
  return { said: String(answer.reason ?? 'got'), name: answer.task_description as string | undefined };
}
