import { Presence, presenceSettings } from '../features/sessions/index.ts';
import { TeamReader, teamService } from '../features/teams/index.ts';
import { profileEnforcement } from '../features/trust/enforcement/index.ts';
import { rulesService } from '../features/trust/rules/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids, Random } from '../kernel/ids.ts';
import { reservedProblem } from '../kernel/names.ts';
import type { Actor } from '../ledger/log.ts';
import type { Store } from '../ledger/store-port.ts';
import { ProvidedServices } from './call.ts';
import { Connection, HOUSEKEEPER } from './coordinator.ts';
import type { CoordinatorContext } from './coordinator-context.ts';
import type { Coxswain, OpenOptions } from './coxswain.ts';
import { type OpenedLedger, openLedger } from './open-ledger.ts';
import type { Authority } from './operation.ts';

export async function open(options: OpenOptions = {}): Promise<Coxswain> {
  return await openOn(await openLedger(options), options);
}

/** On a ledger that the process has opened before. */
export async function openOn(ledger: OpenedLedger, options: OpenOptions): Promise<Coxswain> {
  const { store, store_url, project, workspace, clock, random, ids, env, rules, place } = ledger;
  const wanted = env.COX_PRESENCE === 'off' ? 'off' : options.presence;
  const presence = new Presence(clock, { ...presenceSettings(env), ...(wanted === 'off' ? {} : wanted) });
  const teams = new TeamReader(workspace, clock, env);
  const services = place?.services ?? new ProvidedServices();
  services.provide(rulesService, rules).provide(teamService, teams.team);
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
