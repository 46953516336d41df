import type { JsonObject } from '../kernel/json.ts';
import type { Store } from './store-port.ts';

/** One proposal and what was decided about it. */
export interface Decided {
  /** The name by which the proposer knows it. */
  readonly proposal: string;
  readonly agent_id: string;
  readonly event_type: string;
  readonly feature?: string | undefined;
  readonly edge?: string | undefined;
  /** The answer that a call would have got. */
  readonly outcome: JsonObject;
}

export interface Serialised {
  /** Proposals that this pass took out of the inbox. */
  readonly taken: number;
  /** In the order of the decisions. */
  readonly decided: readonly Decided[];
  readonly set_aside: readonly { readonly file: string; readonly reason: string }[];
}

/** A store to which agents only make proposals, and in which one process at a time decides. */
export interface Serialiser {
  /** One pass over all waiting proposals. */
  serialise(): Promise<Serialised>;
  /** Yields at once, and whenever something may have arrived; ends with the signal. */
  arrivals(signal: AbortSignal): AsyncIterable<void>;
}

export function isSerialiser(store: Store): store is Store & Serialiser {
  return 'serialise' in store && 'arrivals' in store;
}
