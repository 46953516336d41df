import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Workspace } from '../kernel/workspace.ts';
import type { Store } from '../ledger/store-port.ts';
import type { DoorName } from './access.ts';
import type { Enforcement } from './enforcement.ts';
import type { PresenceTracker } from './operation.ts';
import type { Services } from './service.ts';
import type { Hints } from './waiting.ts';

/** Whose calls say that the agent is there. A short command that only looks leaves no trace of itself. */
export type Shows = 'always' | 'writes' | 'never';

export interface Showing {
  readonly shows?: Shows | undefined;
  readonly capabilities?: readonly string[] | undefined;
  /** The way it came in: a profile may be for some ways only. */
  readonly door?: DoorName | undefined;
  /** No name was configured: the transport made it up. */
  readonly unnamed?: boolean | undefined;
  /** The role it claims edges in, unless it names one. */
  readonly agent_role?: string | undefined;
}

export interface CoordinatorContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly project: string;
  /** Undefined in the simulation, which has no sessions. */
  readonly presence?: PresenceTracker | undefined;
  /** Undefined in the simulation, which has no profiles. */
  readonly enforcement?: Enforcement | undefined;
  readonly services?: Services | undefined;
  /** Tells people what they are to hear of; without one it is left to the next process that has one. */
  readonly announce?: (() => void) | undefined;
  readonly work_dir?: string | undefined;
  /** Instead of listening to the store: the simulation decides itself which caller wakes when. */
  readonly hints?: (() => Hints) | undefined;
}

/** What a door adds to one call. */
export interface CallOptions {
  /** The caller has gone, or has changed its mind: whatever waits gives up. */
  readonly signal?: AbortSignal | undefined;
  readonly onWaiting?: ((why: JsonObject) => void) | undefined;
}
