/** What other slices, the runtime and the transports may use of overview. */
export { lookAround } from './take-overview.ts';
