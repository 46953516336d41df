import type { Refusal } from '../../kernel/refusal.ts';
import { reviewersOf, type Team, tasksAtOnce } from '../teams/index.ts';
import type { Terms } from './terms.ts';

/** What the rules say about work for this caller; undefined: nothing. */
export function termsFor(team: Team | Refusal | undefined, agent_id: string): Terms | Refusal | undefined {
  if (team === undefined || 'success' in team) return team;
  const at_most = tasksAtOnce(team, agent_id);
  const authors = new Set(team.rules.reviews.flatMap(({ of }) => of));
  if (at_most === undefined && authors.size === 0) return undefined;
  const reviewers = Object.fromEntries([...authors].map((name) => [name, reviewersOf(team, name) ?? []]));
  return { at_most, reviewers };
}
