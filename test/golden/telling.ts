import type { JsonObject } from '../../src/kernel/json.ts';
import type { Actor } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Authority, InternalCommand } from '../../src/runtime/operation.ts';

/** What every part of the story is told with: its clock, its store, and the agents that act in it. */
export interface Telling {
  readonly store: Store;
  readonly project: string;
  /** Where the repository is, with the fleet's folder in it. */
  readonly root: string;
  /** A person, as a door has found him to be one. */
  readonly paul: Connection;
  connect(who: Partial<Actor> & { readonly agent_id: string }, authority?: Authority): Connection;
  pass(minutes: number): void;
  /** A second later; what is refused is no part of the story, and ends it. */
  ask(who: Connection, name: string, input: JsonObject): Promise<JsonObject>;
  /** The same for what only our own code asks for, and for what may be refused. */
  build<I extends object>(who: Connection, operation: InternalCommand<I>, input: I): Promise<JsonObject>;
}
