/** What others may use of profiles in trust. */
export { readDuration, showDuration } from './duration.ts';
