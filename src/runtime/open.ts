import type { Fleet } from '../features/claims/fleet/index.ts';
import { Presence, presenceSettings } from '../features/sessions/index.ts';
import { TeamReader, teamService } from '../features/teams/index.ts';
import {
  profileEnforcement,
  Rules,
  type RulesOptions,
  rulesOptions,
  rulesService,
} from '../features/trust/enforcement/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createIds, type Ids, type Random, systemRandom } from '../kernel/ids.ts';
import { reservedProblem } from '../kernel/names.ts';
import { StoreFailure } from '../kernel/refusal.ts';
import { findWorkspace, joinPath, STORE_FOLDER, type Workspace } from '../kernel/workspace.ts';
import type { Actor } from '../ledger/log.ts';
import type { Store, StoreContext } from '../ledger/store-port.ts';
import { openStore } from '../stores/open-store.ts';
import { chooseStore } from './choose-store.ts';
import { Connection, HOUSEKEEPER } from './coordinator.ts';
import type { CoordinatorContext } from './coordinator-context.ts';
import type { Coxswain, OpenOptions } from './coxswain.ts';
import type { Authority } from './operation.ts';
import { Services } from './service.ts';

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
  const ruling = await rulesOptions(env);
  const entities = options.entities ?? (await import('./entities.ts')).entities;
  const store = await openStore(store_url, {
    ...{ entities, clock, random, ids, project, sits, brief, lasting },
    ...(await othersWords(store_url, place?.fleet, ruling, { sits })),
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
  // Long-lived processes seal the log; a short command would not get to it.
  const sealing = options.sits === true ? seal(store, project, { clock, random }) : undefined;
  return {
    store,
    store_url,
    project,
    workspace,
    clock,
    presence,
    use: (service) => services.use(service),
    connect(identity = {}, authority = 'operator', showing = {}) {
      const actor = actorOf(identity, authority, ids);
      const unnamed = showing.unnamed ?? identity.agent_id === undefined;
      return new Connection(context, actor, authority, { ...showing, unnamed });
    },
    async close() {
      await sealing?.stop();
      if (place !== undefined)
        await (await import('../features/claims/views/show-converged.ts')).allShown(place.fleet);
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

/** How lines of other programs are read, the commands that this process may make for its neighbours, and what lies in an inbox. A short command needs none of it. */
async function othersWords(
  store_url: string,
  fleet: Fleet | undefined,
  ruling: RulesOptions,
  { sits }: { sits: boolean },
): Promise<Pick<StoreContext, 'commands' | 'foreign' | 'proposals'>> {
  const inFiles = store_url.startsWith('files:');
  return {
    foreign: inFiles ? (await import('../features/claims/fleet/foreign-claims.ts')).foreignLines : undefined,
    commands: sits ? (await import('./commands.ts')).commands : undefined,
    proposals:
      inFiles && fleet !== undefined
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
    // A store beside it would be used by no other work tree of the repository.
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
