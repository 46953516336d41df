import { isDisjoint, type ModuleSpace, unite, type Vector } from './modules.ts';

/**
 * Features that can all run side by side. Finding the largest such set is NP-hard. Going through the features
 * in order and putting each into the first group that it shares nothing with is quick and deterministic, and
 * keeps the most urgent ones together.
 */
export function groupsOf(features: readonly string[], space: ModuleSpace): string[][] {
  const groups: { members: string[]; reach: Vector }[] = [];
  const alone: string[][] = [];
  for (const feature of features) {
    const vector = space.vector(feature);
    if (vector === undefined) {
      alone.push([feature]);
      continue;
    }
    let group = groups.find(({ reach }) => isDisjoint(reach, vector));
    if (group === undefined) {
      group = { members: [], reach: space.empty() };
      groups.push(group);
    }
    group.members.push(feature);
    unite(group.reach, vector);
  }
  return [...groups.map(({ members }) => members), ...alone].sort((a, b) => b.length - a.length);
}
