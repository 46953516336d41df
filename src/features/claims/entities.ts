import type { EntityType } from '../../ledger/entity.ts';
import { type ClaimState, claimEntity as folded } from './edge-claim.ts';
import { grantedClaim } from './granted-item.ts';

export { claimModeEntity } from './claim-mode.ts';
export const claimEntity: EntityType<ClaimState> = { ...folded, granted: grantedClaim };
