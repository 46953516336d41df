import type { JsonObject } from '../../kernel/json.ts';
import { type Decision, type Needs, type Outcome, withoutCommit } from '../../ledger/decision.ts';
import { logRow, type Request } from '../../ledger/log.ts';
import { recall } from '../../ledger/optimistic.ts';
import { deliberate, LoadedSet, overLimits, propose } from '../../ledger/proposal.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import type { Records } from './records.ts';
import type { Writer } from './writer.ts';

/**
 * Steps 3 to 6 of an operation, within one transaction that other callers share. `resent_after`: the call was
 * sent to the seat, which did not answer; if it was committed all the same, then after that position.
 */
export function decideInside<A extends JsonObject>(
  writer: Writer,
  context: StoreContext,
  request: Request,
  decision: Decision<A>,
  resent_after?: number,
): Outcome<A> {
  const { statements, records } = writer;
  const { clock, entities } = context;
  // An id that we generated never comes again: there is nothing to look up and no index entry to keep.
  const named = request.input_digest !== '';
  const seen = named ? statements.seen(request, clock.now_ms()) : undefined;
  if (seen !== undefined) return recall<A>(request, seen);
  const done = named || resent_after === undefined ? undefined : statements.resent(request, resent_after);
  if (done !== undefined)
    return { status: 'committed', answer: done.answer as A, position: done.position, repeated: false };
  for (;;) {
    const now_ms = clock.now_ms();
    const loaded = new LoadedSet();
    const rounds = deliberate(decision, loaded, () => now_ms);
    let step = rounds.next();
    while (!step.done) {
      loadInto(records, request.project, step.value, loaded);
      step = rounds.next();
    }
    const verdict = step.value;
    if (verdict.verdict !== 'commit') return withoutCommit(verdict);
    // No other process can commit between deciding and committing here, so what was read needs no check; but
    // time can pass.
    const { not_after_ms } = verdict;
    if (not_after_ms !== undefined && clock.now_ms() >= not_after_ms && now_ms < not_after_ms) continue;

    const { copied } = verdict;
    // A copied row has its own time, which may be long ago, so it is looked for whatever its age.
    const twin = named && copied !== undefined ? statements.seen(request, 0) : undefined;
    if (twin !== undefined) return recall<A>(request, twin);
    const proposal = propose(
      entities,
      loaded,
      verdict.events,
      copied?.at_ms ?? now_ms,
      not_after_ms,
      copied?.anew,
    );
    const tooLarge = overLimits(proposal);
    if (tooLarge !== undefined) return { status: 'refused', refusal: tooLarge };
    const position = records.nextPosition();
    const row = copied ?? logRow(request, verdict.answer, verdict.events, now_ms, clock.elapsed_ms());
    const found_as = named ? request.operation_id : row.operation_id;
    statements.append(position, row, named ? request.input_digest : null, found_as);
    for (const write of proposal.writes) records.write(request.project, write, position);
    return { status: 'committed', answer: verdict.answer, position, repeated: false };
  }
}

/** Only in a transaction that has caught up with the log. */
export function loadInto(records: Records, project: string, needs: Needs, into: LoadedSet): void {
  for (const key of needs.keys ?? []) into.put(key, records.get(project, key));
  for (const range of needs.ranges ?? []) into.putList(range, records.range(project, range));
}
