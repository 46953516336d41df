import { join } from 'node:path';
import { Connection, type CoordinatorContext } from './coordinator.ts';
import { commands } from './domain/commands.ts';
import { entities } from './domain/entities.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { createIds, type Random, systemRandom } from './kernel/ids.ts';
import { findWorkspace, type Workspace } from './kernel/workspace.ts';
import type { Actor } from './ledger/log.ts';
import type { Store } from './ledger/store.ts';
import type { Authority } from './operation.ts';
import { Presence, type PresenceSettings, presenceSettings, type Showing } from './presence.ts';
import { openStore } from './stores/open.ts';
import { TeamReader } from './teams.ts';

export interface OpenOptions {
  /** Default: `COX_STORE`, else SQLite in the repository's shared git directory. */
  readonly store?: string | undefined;
  readonly project?: string | undefined;
  readonly cwd?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /**
   * This process lives as long as its agent: with SQLite, it may commit for other processes on the file and through them.
   * `COX_SEAT=off` says no for all.
   */
  readonly sits?: boolean | undefined;
  readonly presence?: PresenceSettings | undefined;
}

/** A store with everything around it that a door needs; each client of the door gets a connection of its own. */
export interface Coxswain {
  readonly store: Store;
  readonly store_url: string;
  readonly project: string;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly presence: Presence;
  connect(identity?: Partial<Actor>, authority?: Authority, showing?: Showing): Connection;
  close(): Promise<void>;
}

export async function open(options: OpenOptions = {}): Promise<Coxswain> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const ids = createIds(clock, random);
  const workspace = findWorkspace(options.cwd ?? process.cwd());
  const store_url = options.store ?? (process.env.COX_STORE || defaultStore(workspace));
  const project = options.project ?? (process.env.COX_PROJECT || 'default');
  const sits = options.sits === true && process.env.COX_SEAT !== 'off';
  const store = await openStore(store_url, { entities, clock, random, ids, commands, sits });
  const presence = new Presence(clock, { ...presenceSettings(process.env), ...options.presence });
  const teams = new TeamReader(workspace, clock);
  const context: CoordinatorContext = { store, clock, ids, workspace, project, presence, teams };
  return {
    store,
    store_url,
    project,
    workspace,
    clock,
    presence,
    connect(identity = {}, authority = 'operator', showing = {}) {
      const fresh = ids.uuid();
      const actor = {
        agent_id: identity.agent_id ?? `agent-${fresh}`,
        agent_type: identity.agent_type ?? 'unknown',
        session_id: identity.session_id ?? fresh,
      };
      return new Connection(context, actor, authority, showing);
    },
    close: () => store.close(),
  };
}

/** Where all worktrees of a repository share it; without git, beside the files it coordinates. */
function defaultStore(workspace: Workspace): string {
  const folder =
    workspace.gitCommonDir === undefined
      ? join(workspace.root, '.coxswain')
      : join(workspace.gitCommonDir, 'coxswain');
  return `sqlite:${join(folder, 'cox.db')}`;
}
