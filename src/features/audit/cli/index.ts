/** What the command line uses of audit. */
export { readMoment } from './read-history.ts';
