/** What the command line uses from overview. */
export type { StatsOptions } from './stats-command.ts';
export { statusLines } from './status-screen.ts';
export type { WatchOptions } from './watch-command.ts';
