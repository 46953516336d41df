/** What other folders may use of trust's profiles. */
export { readDuration, showDuration } from './duration.ts';
