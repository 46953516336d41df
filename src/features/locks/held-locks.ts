import { limits } from '../../kernel/limits.ts';
import { prefixed, type Range } from '../../ledger/decision.ts';
import { type HeldPage, isHeldBy } from '../../ledger/lease.ts';
import { HELD, LOCK, type LockState, placeOf } from './state.ts';

export const heldLocks: HeldPage<LockState> = lockPage(HELD);

function lockPage(from: string): HeldPage<LockState> {
  const range: Range = { ...prefixed('sort', LOCK, HELD, limits.range_rows_max), from };
  return {
    range,
    heldBy: (records, session) =>
      records
        .filter(({ state }) => placeOf(state).leases.some((lease) => isHeldBy(lease, session)))
        .map(({ id }) => id),
    next(records) {
      const last = records.at(-1);
      if (records.length < range.limit || last === undefined) return undefined;
      // No place contains a control character: this is the next possible key.
      return lockPage(`${HELD}${last.id}\u0001`);
    },
  };
}
