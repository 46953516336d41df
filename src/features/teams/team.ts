import { type Area, areaName, covers, overlap } from '../../kernel/area.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { defineService } from '../../runtime/service.ts';

/** The agents that work together here, and their rules, from `teams.yaml`. */
export interface Team {
  readonly name: string;
  readonly agents: readonly TeamMember[];
  readonly rules: TeamRules;
}

export interface TeamMember {
  readonly name: string;
  readonly role: string;
  readonly capabilities: readonly string[];
  readonly description: string;
}

export interface TeamRules {
  /**
   * Which agents review whose work. A task of type `review` that names its `author` goes to these reviewers
   * only.
   */
  readonly reviews: readonly { readonly of: readonly string[]; readonly by: readonly string[] }[];
  /** Only these agents lock these paths. */
  readonly owns: readonly { readonly agents: readonly string[]; readonly areas: readonly Area[] }[];
  /** How many tasks an agent, or each agent of a role, may have claimed at once. */
  readonly at_once: readonly {
    readonly agent?: string | undefined;
    readonly role?: string | undefined;
    readonly tasks: number;
  }[];
}

/** The owners that keep this agent from locking the area; undefined: there are none. */
export function foreignOwners(team: Team, agent_id: string, wanted: Area): readonly string[] | undefined {
  for (const { agents, areas } of team.rules.owns) {
    if (agents.includes(agent_id)) continue;
    if (areas.some((area) => covers(area, wanted) || overlap(area, wanted))) return agents;
  }
  return undefined;
}

/** The agents that review this agent's work; undefined: no particular ones. */
export function reviewersOf(team: Team, author: string): readonly string[] | undefined {
  const by = team.rules.reviews.filter(({ of }) => of.includes(author)).flatMap((rule) => rule.by);
  return by.length === 0 ? undefined : [...new Set(by)];
}

export function tasksAtOnce(team: Team, agent_id: string): number | undefined {
  const role = team.agents.find(({ name }) => name === agent_id)?.role;
  const limits = team.rules.at_once.filter(
    (rule) => rule.agent === agent_id || (rule.role !== undefined && rule.role === role),
  );
  return limits.length === 0 ? undefined : Math.min(...limits.map(({ tasks }) => tasks));
}

/**
 * An agent that locks what other agents own is refused. Ownership is a rule of the file, so it needs no check
 * in the commit.
 */
export function notOwner(
  areas: readonly Area[],
  team: Team | Refusal,
  agent_id: string,
): Refusal | undefined {
  if ('success' in team) return team;
  for (const area of areas) {
    const owners = foreignOwners(team, agent_id, area);
    if (owners === undefined) continue;
    const file_path = areaName(area);
    const message = `${file_path} belongs to ${owners.join(', ')} in team ${team.name}.`;
    return refuse('not_owner', message, { file_path, owners: [...owners] });
  }
  return undefined;
}

/** The rules of this workspace's team; a refusal when its file has mistakes. */
export const teamService = defineService<() => Promise<Team | Refusal | undefined>>(
  'team',
  () => async () => undefined,
);
