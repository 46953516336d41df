import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { refuse, StoreFailure } from '../kernel/refusal.ts';
import { type Decision, type Needs, type Outcome, withoutCommit } from './decision.ts';
import type { Entities } from './entity.ts';
import { logRow, type Request, type Unplaced } from './log.ts';
import { deliberate, LoadedSet, overLimits, type Proposal, propose } from './proposal.ts';

/** What was committed under an operation id before. */
export interface Seen {
  readonly input_digest: string;
  readonly answer: JsonObject;
  readonly position: number;
}

export type CommitResult =
  | { readonly status: 'committed'; readonly position: number }
  | { readonly status: 'conflict' }
  | { readonly status: 'seen'; readonly seen: Seen };

export interface LoadAnswer {
  readonly now_ms: number;
  readonly seen: Seen | undefined;
  /** Loaded from memory: it may be out of date, and the operation id was not looked up. */
  readonly unsure?: boolean;
}

/** The primitive steps of a store that decides outside its transaction. */
export interface OptimisticEngine {
  /**
   * Loads into the set; returns the store's time and what is known of the operation id. Unless `sure`, it may
   * answer from memory and say so: a commit proves what it relied on, but no call is refused on such grounds.
   */
  load(request: Request, needs: Needs, into: LoadedSet, sure: boolean): Promise<LoadAnswer>;
  /** A lower bound of the store's time, without asking the store: an expiry may be seen late, never early. */
  estimate_ms(): number;
  /**
   * All or nothing: commits if every version is as expected, the time limit has not passed and the id is new.
   */
  commit(request: Request, proposal: Proposal, row: Unplaced): Promise<CommitResult>;
}

/**
 * Steps 3 to 6 of an operation, for stores that decide first and prove at commit that nothing has changed.
 */
export async function runOptimistically<A extends JsonObject>(
  engine: OptimisticEngine,
  context: { entities: Entities; clock: Clock; random: Random },
  request: Request,
  decision: Decision<A>,
): Promise<Outcome<A>> {
  for (let attempt = 0; attempt < limits.commit_attempts; attempt += 1) {
    if (attempt > 1) await context.clock.sleep(backoff_ms(attempt, context.random));
    const outcome = await attemptOnce(engine, context, request, decision, attempt > 0);
    if (outcome !== 'again') return outcome;
  }
  throw new StoreFailure(
    'database_unavailable',
    `Other writers were quicker ${limits.commit_attempts} times in a row; nothing was changed.`,
  );
}

async function attemptOnce<A extends JsonObject>(
  engine: OptimisticEngine,
  context: { entities: Entities; clock: Clock },
  request: Request,
  decision: Decision<A>,
  sure: boolean,
): Promise<Outcome<A> | 'again'> {
  const loaded = new LoadedSet();
  let now_ms: number | undefined;
  let unsure = false;
  let estimated_ms: number | undefined;
  // One time for the whole attempt, so that the row has the time that the decision used.
  const time = () => {
    if (now_ms !== undefined) return now_ms;
    estimated_ms ??= engine.estimate_ms();
    return estimated_ms;
  };
  const rounds = deliberate(decision, loaded, time);
  let step = rounds.next();
  while (!step.done) {
    const answer = await engine.load(request, step.value, loaded, sure);
    unsure ||= answer.unsure === true;
    if (answer.seen !== undefined) return recall<A>(request, answer.seen);
    // The first round's time is used for the whole decision: what was alive then is what was loaded then.
    now_ms ??= answer.now_ms;
    step = rounds.next();
  }
  const verdict = step.value;
  if (verdict.verdict !== 'commit') {
    if (unsure) return 'again';
    if (now_ms !== undefined && request.input_digest === '') return withoutCommit(verdict);
    // Either nothing was loaded, so the operation id has not been looked up yet; or the same call was committed by another process
    // after its id was looked up and before the records were read, and what it changed is why this one is refused.
    const { seen } = await engine.load(request, {}, loaded, true);
    return seen === undefined ? withoutCommit(verdict) : recall<A>(request, seen);
  }
  const { copied } = verdict;
  const at_ms = copied?.at_ms ?? time();
  const proposal = propose(
    context.entities,
    loaded,
    verdict.events,
    at_ms,
    verdict.not_after_ms,
    copied?.anew,
  );
  const tooLarge = overLimits(proposal);
  if (tooLarge !== undefined) return unsure ? 'again' : { status: 'refused', refusal: tooLarge };
  const row = copied ?? logRow(request, verdict.answer, verdict.events, at_ms, context.clock.elapsed_ms());
  const result = await engine.commit(request, proposal, row);
  if (result.status === 'conflict') return 'again';
  if (result.status === 'seen') return recall<A>(request, result.seen);
  return { status: 'committed', answer: verdict.answer, position: result.position, repeated: false };
}

/** The first outcome of an operation id, or a refusal when the id was used for a different request. */
export function recall<A extends JsonObject>(request: Request, seen: Seen): Outcome<A> {
  if (seen.input_digest !== request.input_digest) {
    const message = `operation_id ${request.operation_id} was used before for a different request.`;
    return { status: 'refused', refusal: refuse('operation_id_reused', message, { field: 'operation_id' }) };
  }
  return { status: 'committed', answer: seen.answer as A, position: seen.position, repeated: true };
}

function backoff_ms(attempt: number, random: Random): number {
  return random.fraction() * Math.min(50, 2 ** Math.min(attempt, 6));
}
