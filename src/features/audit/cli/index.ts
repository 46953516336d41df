/** What the command line uses from audit. */
export { readMoment } from './read-history.ts';
