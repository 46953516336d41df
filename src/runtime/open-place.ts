import { CommitReader } from '../features/changesets/index.ts';
import { type Fleet, FleetReader } from '../features/claims/fleet/index.ts';
import { createPorts } from '../features/port-blocks/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { limits } from '../kernel/limits.ts';
import type { Workspace } from '../kernel/workspace.ts';
import type { ProvidedServices } from './call.ts';
import { placeServices } from './place-services.ts';

interface Place {
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly store_url: string;
}

export interface OpenedPlace {
  readonly fleet: Fleet;
  readonly services: ProvidedServices;
}

/** What operations find around the store: the fleet's folder, this machine's ports, the repository. No hook needs any of it. */
export async function openPlace(place: Place): Promise<OpenedPlace> {
  const { workspace, clock, env } = place;
  const fleet = await fleetAt(place);
  const services = placeServices({
    fleet,
    ports: createPorts(env, clock),
    commits: new CommitReader(workspace, env),
    network: async () =>
      (await import('../features/network/settings/network-settings.ts')).networkSettings(env),
  });
  return { fleet, services };
}

async function fleetAt({ workspace, clock, env, store_url }: Place): Promise<Fleet> {
  const ttl_ms = store_url.startsWith('dynamodb:') ? limits.claim_ttl_ms_default : undefined;
  return new FleetReader(workspace, clock, await fleetSettings(env, store_url), ttl_ms);
}

/** A log in a fleet's folder says which folder that is. */
async function fleetSettings(env: NodeJS.ProcessEnv, store_url: string): Promise<NodeJS.ProcessEnv> {
  if (!store_url.startsWith('files:') || env.COX_WORKSPACE) return env;
  const { layoutOf } = await import('../stores/files/folder-layout.ts');
  return { ...env, COX_WORKSPACE: layoutOf(store_url.slice('files:'.length)).folder };
}
