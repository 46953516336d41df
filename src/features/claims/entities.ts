export { claimModeEntity } from './claim-mode.ts';
export { claimEntity } from './edge-claim.ts';
