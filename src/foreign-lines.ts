import type { ClaimState } from './domain/claims/claim.ts';
import { foreignKey, toClaimEvent } from './domain/claims/foreign-event.ts';
import type { ForeignLines } from './ledger/foreign.ts';

/** What lines of other implementations in a log say about claims. */
export const foreignLines: ForeignLines = {
  about: foreignKey,
  eventOf: (record, state) => toClaimEvent(record, state as unknown as ClaimState | undefined),
};
