import type { CommitReader } from '../features/changesets/commit-reader.ts';
import type { NetworkSettings } from '../features/network/judge-network.ts';
import type { Ports } from '../features/port-blocks/ports.ts';
import type { Presence } from '../features/sessions/presence.ts';
import type { TeamReader } from '../features/teams/team-reader.ts';
import type { Rules } from '../features/trust/enforcement/rulebook-reader.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Workspace } from '../kernel/workspace.ts';
import type { Store } from '../ledger/store-port.ts';
import type { Fleet } from './operation.ts';
import type { Hints } from './waiting.ts';

export interface CoordinatorContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly project: string;
  readonly presence?: Presence | undefined;
  readonly teams?: TeamReader | undefined;
  /** Who may what; not in the simulation, which has no profiles. */
  readonly rules?: Rules | undefined;
  readonly ports?: Ports | undefined;
  /** Tells people what they are to hear of; without one it is left to whoever comes next. */
  readonly announce?: (() => void) | undefined;
  readonly network?: (() => Promise<NetworkSettings | Refusal>) | undefined;
  readonly commits?: CommitReader | undefined;
  readonly fleet?: Fleet | undefined;
  readonly work_dir?: string | undefined;
  /** Instead of listening to the store: the simulation decides itself who wakes when. */
  readonly hints?: (() => Hints) | undefined;
}

/** What a door adds to one call. */
export interface CallOptions {
  /** The caller has gone, or has changed its mind: whatever waits gives up. */
  readonly signal?: AbortSignal | undefined;
  readonly onWaiting?: ((why: JsonObject) => void) | undefined;
}
