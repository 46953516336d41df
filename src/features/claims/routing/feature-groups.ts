import { isDisjoint, type ModuleSpace, unite, type Vector } from './modules.ts';

/**
 * Features that can all run beside each other. The largest such set is as hard to find as they come; going through them in
 * order and putting each into the first group that it shares nothing with is quick, the same every time, and keeps the most
 * urgent ones together.
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
