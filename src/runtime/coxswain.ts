import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/ids.ts';
import type { Workspace } from '../kernel/workspace.ts';
import type { Entities } from '../ledger/entity.ts';
import type { Actor } from '../ledger/log.ts';
import type { Store } from '../ledger/store-port.ts';
import type { Connection } from './coordinator.ts';
import type { Showing } from './coordinator-context.ts';
import type { Authority, PresenceTracker } from './operation.ts';
import type { Service } from './service.ts';

export interface PresenceSettings {
  /** One sign of life stands for all calls of a connection within so long. */
  readonly touch_ms?: number | undefined;
  /** After so long without a call an active session is idle. */
  readonly idle_ms?: number | undefined;
  /** After so long without any sign of life a session is taken for dead. */
  readonly stale_ms?: number | undefined;
}

export interface OpenOptions {
  /**
   * Default: `COX_STORE`, `POSTGRES_DSN` / `DB_BACKEND`, else SQLite in the repository's shared git directory. `none:`
   * opens nothing and answers what this machine can answer alone (port blocks).
   */
  readonly store?: string | undefined;
  readonly project?: string | undefined;
  readonly cwd?: string | undefined;
  /** The one around `cwd`, if the caller has found it already. */
  readonly workspace?: Workspace | undefined;
  /** Where the settings come from; default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /**
   * This process lives as long as its agent: with SQLite, it may commit for other processes on the file and through them.
   * `COX_SEAT=off` says no for all.
   */
  readonly sits?: boolean | undefined;
  /** This process ends as soon as it has closed the store, so that some tidying up is left to the next. */
  readonly brief?: boolean | undefined;
  /** The same of a process that does everything else like one that goes on. */
  readonly leaves?: boolean | undefined;
  /** False: what is committed is not waited for on the disk. A power cut may lose it, nothing else. */
  readonly lasting?: boolean | undefined;
  /** Called when something was committed that people are to hear of; it must not wait for anything. */
  readonly announce?: (() => void) | undefined;
  /** The kinds of records to load at once; the hooks need few. Default: all. */
  readonly entities?: Entities | undefined;
  /** `off` (or `COX_PRESENCE=off`): sessions are not kept track of. */
  readonly presence?: PresenceSettings | 'off' | undefined;
}

/** A store with everything around it that a door needs; each client of the door gets a connection of its own. */
export interface Coxswain {
  readonly store: Store;
  readonly store_url: string;
  readonly project: string;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly presence: PresenceTracker;
  /** Something of this place that a slice has declared. */
  use<T>(service: Service<T>): T;
  connect(identity?: Partial<Actor>, authority?: Authority, showing?: Showing): Connection;
  close(): Promise<void>;
}
