import type { Moment } from '../../../kernel/moment.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import { type FieldChange, fieldChanges } from '../../../ledger/time-travel/difference.ts';
import type { Between, Change, Reach } from '../../../ledger/time-travel/travel.ts';
import { standingOf } from '../../../transports/cli/narration/state-words.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import { type Choice, chosen } from '../../../transports/cli/output/pick.ts';

export interface Changed {
  readonly before: EntityRecord;
  readonly after: EntityRecord;
  readonly fields: readonly FieldChange[];
}

/** Not written in between, and yet different now: an expired lease. */
export interface RanOut {
  readonly record: EntityRecord;
  readonly from: string;
  readonly to: string;
}

/** A requested moment, and the state at it. */
export interface Side {
  readonly at_ms: number;
  readonly reach: Reach;
}

export interface Difference {
  readonly from: Side;
  readonly to: Side;
  readonly created: readonly EntityRecord[];
  readonly changed: readonly Changed[];
  readonly gone: readonly EntityRecord[];
  readonly ran_out: readonly RanOut[];
}

/** Sorted by what became of each record, and limited to those requested. */
export function differenceOf(
  between: Between,
  moments: { readonly from: Moment; readonly to: Moment },
  choice: Choice,
): Difference {
  const side = (moment: Moment, reach: Reach): Side => ({
    at_ms: 'at_ms' in moment ? moment.at_ms : (reach.at_ms ?? 0),
    reach,
  });
  const from = side(moments.from, between.from);
  const to = side(moments.to, between.to);
  const wanted = between.changes.filter(({ before, after }) => {
    const either = before ?? after;
    return either !== undefined && chosen(either, choice);
  });
  return {
    from,
    to,
    created: wanted.flatMap(({ before, after }) =>
      before === undefined && after !== undefined ? [after] : [],
    ),
    changed: wanted.flatMap(changedOf),
    gone: wanted.flatMap(({ before, after }) =>
      before !== undefined && after === undefined ? [before] : [],
    ),
    ran_out: ranOut(between, from.at_ms, to.at_ms, choice),
  };
}

function changedOf({ before, after }: Change): Changed[] {
  if (before === undefined || after === undefined) return [];
  return [{ before, after, fields: fieldChanges(withoutSecrets(before.state), withoutSecrets(after.state)) }];
}

function ranOut({ changes, state }: Between, from_ms: number, to_ms: number, choice: Choice): RanOut[] {
  const written = new Set(changes.map(({ after }) => after));
  const found: RanOut[] = [];
  for (const record of state.values()) {
    if (written.has(record) || !chosen(record, choice)) continue;
    const from = standingOf(record, from_ms);
    const to = standingOf(record, to_ms);
    if (from !== undefined && to !== undefined && from !== to) found.push({ record, from, to });
  }
  return found;
}
