import { type CommitReader, commitService } from '../features/changesets/index.ts';
import { type Fleet, fleetService } from '../features/claims/fleet/index.ts';
import { capableAgentsService } from '../features/mail/index.ts';
import { type NetworkSettings, networkService } from '../features/network/index.ts';
import { type Ports, portsService } from '../features/port-blocks/index.ts';
import { agentsWithCapability } from '../features/sessions/index.ts';
import { type TeamReader, teamService } from '../features/teams/index.ts';
import { consequencesService } from '../features/trust/approvals/index.ts';
import { type Rules, rulesService } from '../features/trust/rules/index.ts';
import type { Refusal } from '../kernel/refusal.ts';
import { ProvidedServices } from './call.ts';

/** What is known of the place where a store was opened. What is left out has the fallback of its service. */
export interface PlaceServices {
  readonly fleet?: Fleet | undefined;
  readonly rules?: Rules | undefined;
  readonly teams?: TeamReader | undefined;
  readonly ports?: Ports | undefined;
  readonly commits?: CommitReader | undefined;
  readonly network?: (() => Promise<NetworkSettings | Refusal>) | undefined;
}

export function placeServices(place: PlaceServices): ProvidedServices {
  const { fleet, rules, teams, ports, commits, network } = place;
  const services = new ProvidedServices();
  // Loaded when a person decides about an approval, which no short command and no hook does.
  services.provide(
    consequencesService,
    async () => (await import('./approval-consequences.ts')).consequences,
  );
  services.provide(capableAgentsService, agentsWithCapability);
  if (fleet !== undefined) services.provide(fleetService, fleet);
  if (rules !== undefined) services.provide(rulesService, rules);
  if (teams !== undefined) services.provide(teamService, () => teams.team());
  if (ports !== undefined) services.provide(portsService, ports);
  if (commits !== undefined) services.provide(commitService, commits);
  if (network !== undefined) services.provide(networkService, network);
  return services;
}
