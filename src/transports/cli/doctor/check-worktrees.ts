import { canonical } from '../../../kernel/json.ts';
import type { AgentClient, Site } from '../init/clients/client-setup.ts';
import { type Configured, readConfigured } from './configured.ts';
import { type DoctorFinding, wrong } from './doctor-finding.ts';

/** A client that does not look beyond its worktree is unguarded in every one that was added after `cox init`. */
export function checkWorktrees(client: AgentClient, worktrees: readonly Site[]): DoctorFinding[] {
  if (client.spansWorktrees) return [];
  const all = worktrees.map((site) => ({ root: site.root, configured: readConfigured(client, site) }));
  const whole = all.find(({ configured }) => isWhole(configured));
  if (whole === undefined || whole.configured.scope === 'user') return [];
  const same = (configured: Configured) => canonical(configured) === canonical(whole.configured);
  const bare = all.filter(({ configured }) => !isWhole(configured) || !same(configured));
  if (bare.length === 0) return [];
  const roots = bare.map(({ root }) => root).join(', ');
  return [
    wrong(`${client.name} worktrees`, `not set up, or not like ${whole.root}: ${roots}`, 'Run `cox init`.'),
  ];
}

function isWhole({ server, missing }: Configured): boolean {
  return server !== undefined && missing.length === 0;
}
