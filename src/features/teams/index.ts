/** What other slices, the runtime and the transports may use of teams. */

export { notOwner, reviewersOf, type Team, tasksAtOnce, teamService } from './team.ts';
export type { AreaOf } from './team-file.ts';
export { TeamReader } from './team-reader.ts';
