/** What the command line uses from claims. */
export { CLAIMS_TOLD } from './claim-words.ts';
export { renderEscalation, renderStale } from './claims-screen.ts';
