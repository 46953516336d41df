import { type Area, areaName } from '../../kernel/area.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Operation } from '../../runtime/operation.ts';
import type { Terms } from '../queue/terms.ts';
import { foreignOwners, reviewersOf, type Team, tasksAtOnce } from './team.ts';

/** Who locks what belongs to others is refused; ownership is a rule of the file, so it needs no place in the commit. */
export function notOwner(
  areas: readonly Area[],
  team: Team | Refusal | undefined,
  agent_id: string,
): Refusal | undefined {
  if (team === undefined || 'success' in team) return team;
  for (const area of areas) {
    const owners = foreignOwners(team, agent_id, area);
    if (owners === undefined) continue;
    const file_path = areaName(area);
    const message = `${file_path} belongs to ${owners.join(', ')} in team ${team.name}.`;
    return refuse('not_owner', message, { file_path, owners: [...owners] });
  }
  return undefined;
}

/** What the rules say about work for this caller; undefined: nothing. */
export function termsFor(team: Team | Refusal | undefined, agent_id: string): Terms | Refusal | undefined {
  if (team === undefined || 'success' in team) return team;
  const at_most = tasksAtOnce(team, agent_id);
  const authors = new Set(team.rules.reviews.flatMap(({ of }) => of));
  if (at_most === undefined && authors.size === 0) return undefined;
  const reviewers = Object.fromEntries([...authors].map((name) => [name, reviewersOf(team, name) ?? []]));
  return { at_most, reviewers };
}

export const showTeam = {
  name: 'show_team',
  group: 'team',
  verb: 'check',
  summary: 'The team of teams.yaml: members, roles, rules; or every mistake in the file.',
  route: { method: 'POST', path: '/team/show' },
  mutates: false,
  standard: false,
  examples: ['cox team check', 'COX_TEAMS=ops/teams.yaml cox team check --json'],
  input: async () => (await import('../sessions/schemas.ts')).showTeam,
  async handle(_input, step) {
    const team = await step.team();
    if (team === undefined) return { success: true, team: null, agents: [] };
    if ('success' in team) return team;
    const { reviews, owns, at_once } = team.rules;
    const rules = {
      reviews: reviews.map(({ of, by }) => ({ of: [...of], by: [...by] })),
      owns: owns.map(({ agents, areas }) => ({ agents: [...agents], paths: areas.map(areaName) })),
      at_once: at_once.map((rule) => ({ ...rule })),
    };
    const agents = team.agents.map((agent) => ({ ...agent, capabilities: [...agent.capabilities] }));
    return { success: true, team: team.name, agents, rules };
  },
} satisfies Operation;
