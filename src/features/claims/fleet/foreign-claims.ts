import type { ForeignLines } from '../../../ledger/foreign.ts';
import type { ClaimState } from '../edge-claim.ts';
import { foreignKey, toClaimEvent } from '../foreign-event.ts';

/** What lines of other implementations in a log say about claims. */
export const foreignLines: ForeignLines = {
  about: foreignKey,
  eventOf: (record, state) => toClaimEvent(record, state as unknown as ClaimState | undefined),
};
