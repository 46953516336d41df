import { type Fleet, noFleet } from '../features/claims/fleet/fleet.ts';
import { Presence, type PresenceSettings, presenceSettings } from '../features/sessions/presence.ts';
import { teamService } from '../features/teams/team.ts';
import { TeamReader } from '../features/teams/team-reader.ts';
import { profileEnforcement } from '../features/trust/enforcement/profile-enforcer.ts';
import {
  Rules,
  type RulesOptions,
  rulesOptions,
  rulesService,
} from '../features/trust/enforcement/rulebook-reader.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createIds, type Ids, type Random, systemRandom } from '../kernel/ids.ts';
import { reservedProblem } from '../kernel/names.ts';
import { StoreFailure } from '../kernel/refusal.ts';
import { findWorkspace, joinPath, STORE_FOLDER, type Workspace } from '../kernel/workspace.ts';
import type { Entities } from '../ledger/entity.ts';
import type { Actor } from '../ledger/log.ts';
import type { Store, StoreContext } from '../ledger/store-port.ts';
import { chooseStore } from '../stores/choose-store.ts';
import { openStore } from '../stores/open-store.ts';
import { Connection, HOUSEKEEPER } from './coordinator.ts';
import type { CoordinatorContext, Showing } from './coordinator-context.ts';
import type { Authority } from './operation.ts';
import { Services } from './service.ts';

export interface OpenOptions {
  /**
   * Default: `COX_STORE`, `POSTGRES_DSN` / `DB_BACKEND`, else SQLite in the repository's shared git directory. `none:`
   * opens nothing and answers what this machine can answer alone (port blocks).
   */
  readonly store?: string | undefined;
  readonly project?: string | undefined;
  readonly cwd?: string | undefined;
  /** The one around `cwd`, by whoever has found it already. */
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
  /** False: what is committed is not waited for on the disk. A power cut may lose it, nothing else. */
  readonly lasting?: boolean | undefined;
  /** Called when something was committed that people are to hear of; it must not wait for anything. */
  readonly announce?: (() => void) | undefined;
  /** The kinds of records to load at once; the hooks need few. Default: all. */
  readonly entities?: Entities | undefined;
  /** `off` (or `COX_PRESENCE=off`): nobody keeps track of who is there. */
  readonly presence?: PresenceSettings | 'off' | undefined;
}

/** A store with everything around it that a door needs; each client of the door gets a connection of its own. */
export interface Coxswain {
  readonly store: Store;
  readonly store_url: string;
  readonly project: string;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly presence: Presence;
  readonly fleet: Fleet;
  connect(identity?: Partial<Actor>, authority?: Authority, showing?: Showing): Connection;
  close(): Promise<void>;
}

export async function open(options: OpenOptions = {}): Promise<Coxswain> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const ids = createIds(clock, random);
  const env = options.env ?? process.env;
  const workspace = options.workspace ?? findWorkspace(options.cwd ?? process.cwd());
  const store_url = chooseStore(options.store, env).url ?? defaultStore(workspace);
  const project = options.project ?? (env.COX_PROJECT || 'default');
  const sits = options.sits === true && env.COX_SEAT !== 'off';
  const { brief, lasting } = options;
  const place =
    brief === true
      ? undefined
      : await (await import('./open-place.ts')).openPlace({ workspace, clock, env, store_url });
  const fleet = place?.fleet ?? noFleet;
  const ruling = await rulesOptions(env);
  const entities = options.entities ?? (await import('./entities.ts')).entities;
  const store = await openStore(store_url, {
    ...{ entities, clock, random, ids, project, sits, brief, lasting },
    ...(await othersWords(store_url, fleet, ruling, { sits, brief })),
  });
  const wanted = env.COX_PRESENCE === 'off' ? 'off' : options.presence;
  const presence = new Presence(clock, { ...presenceSettings(env), ...(wanted === 'off' ? {} : wanted) });
  const teams = new TeamReader(workspace, clock, env);
  const rules = new Rules(store, project, clock, ruling);
  const services = place?.services ?? new Services();
  services.provide(rulesService, rules).provide(teamService, () => teams.team());
  const context: CoordinatorContext = {
    store,
    clock,
    ids,
    workspace,
    project,
    presence: wanted === 'off' ? undefined : presence,
    enforcement: profileEnforcement(rules),
    services,
    announce: options.announce,
    work_dir: env.COX_WORK_DIR || undefined,
  };
  // Whoever lives long seals the log for all; a short command would not get to it.
  const sealing = options.sits === true ? seal(store, project, { clock, random }) : undefined;
  return {
    store,
    store_url,
    project,
    workspace,
    clock,
    presence,
    fleet,
    connect(identity = {}, authority = 'operator', showing = {}) {
      const actor = actorOf(identity, authority, ids);
      const unnamed = showing.unnamed ?? identity.agent_id === undefined;
      return new Connection(context, actor, authority, { ...showing, unnamed });
    },
    async close() {
      await sealing?.stop();
      if (brief !== true) await (await import('../features/claims/views/show-converged.ts')).allShown(fleet);
      await store.close();
    },
  };
}

/** Every door goes through here, so no agent looks like a person through any. */
function actorOf(identity: Partial<Actor>, authority: Authority, ids: Ids): Actor {
  const session_id = identity.session_id ?? ids.uuid();
  const agent_id =
    identity.agent_id ?? `agent-${identity.session_id === undefined ? session_id : ids.uuid()}`;
  const actor = { agent_id, agent_type: identity.agent_type ?? 'unknown', session_id };
  const isOwn = authority === 'person' || identity === HOUSEKEEPER;
  for (const field of ['agent_id', 'agent_type'] as const) {
    const problem = isOwn ? undefined : reservedProblem(field, actor[field]);
    if (problem !== undefined) throw new TypeError(`${field}: expected ${problem}`);
  }
  return actor;
}

/** How lines of others are read, and what they ask of whoever sits or have left in an inbox; nobody else needs all of it. */
async function othersWords(
  store_url: string,
  fleet: Fleet,
  ruling: RulesOptions,
  { sits, brief }: { sits: boolean; brief: boolean | undefined },
): Promise<Pick<StoreContext, 'commands' | 'foreign' | 'proposals'>> {
  const inFiles = store_url.startsWith('files:');
  const hasInbox = inFiles && brief !== true;
  return {
    foreign: inFiles ? (await import('../features/claims/fleet/foreign-claims.ts')).foreignLines : undefined,
    commands: sits ? (await import('./commands.ts')).commands : undefined,
    proposals: hasInbox
      ? (await import('../features/claims/fleet/claim-proposals.ts')).claimProposals(fleet, ruling)
      : undefined,
  };
}

function seal(store: Store, project: string, context: { clock: Clock; random: Random }) {
  const closing = new AbortController();
  const done = import('../ledger/audit/sealing.ts').then(({ keepSealing }) =>
    keepSealing(store, project, context, closing.signal),
  );
  return {
    stop() {
      closing.abort();
      return done;
    },
  };
}

/** Where all worktrees of a repository share it; without git, beside the files it coordinates. */
export function defaultStore(workspace: Workspace): string {
  if (workspace.dangling !== undefined) {
    const { file, target } = workspace.dangling;
    // A store beside it would be one that nobody else of the repository uses.
    throw new StoreFailure(
      'store_unusable',
      `${file} leads to ${target}, where no git repository is: its main checkout was moved or removed. Run \`git worktree repair\` in the main checkout, or name a store (--store, COX_STORE).`,
    );
  }
  const folder =
    workspace.gitCommonDir === undefined
      ? joinPath(workspace.root, STORE_FOLDER)
      : joinPath(workspace.gitCommonDir, 'coxswain');
  return `sqlite:${joinPath(folder, 'cox.db')}`;
}
