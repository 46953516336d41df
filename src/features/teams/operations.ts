import { areaName } from '../../kernel/area.ts';
import type { Operation } from '../../runtime/operation.ts';
import { teamService } from './team.ts';

export const showTeam = {
  name: 'show_team',
  group: 'team',
  verb: 'check',
  summary: 'The team of teams.yaml: members, roles, rules; or every mistake in the file.',
  route: { method: 'POST', path: '/team/show' },
  mutates: false,
  standard: false,
  examples: ['cox team check', 'COX_TEAMS=ops/teams.yaml cox team check --json'],
  input: async () => (await import('./schemas.ts')).showTeam,
  async handle(_input, step) {
    const team = await step.use(teamService)();
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
