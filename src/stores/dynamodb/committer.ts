import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type EntityKey, keyText } from '../../ledger/entity.ts';
import type { Request, Unplaced } from '../../ledger/log.ts';
import type { Seen } from '../../ledger/optimistic.ts';
import { entityType, type Proposal } from '../../ledger/proposal.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import { type Item, numberOf, textOf } from './item.ts';
import type { Stamps } from './stamps.ts';
import { type TableClient, THROTTLED_MS_MAX, type Transacted } from './table-client.ts';
import type { Plan, Planned, Planner } from './transaction-plan.ts';

/**
 * Another caller's transaction was under way on one of the items: nothing has changed, and it will soon be
 * over.
 */
const CONFLICT_TRIES_MAX = 12;
const CONFLICT_PAUSE_MS_MAX = 120;
const AFTER_PER_CALL = 100;
const THROTTLED = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded', 'RequestLimitExceeded']);

export interface Conflict {
  readonly status: 'conflict';
  /**
   * What is stored where something else was expected; no item means that nothing is there. Nothing is known
   * about the other keys: DynamoDB does not promise to check the remaining conditions after one has failed.
   */
  readonly found: ReadonlyMap<string, { readonly item: Item | undefined }>;
  /** Changed, but the server did not show how. */
  readonly unknown: readonly EntityKey[];
}

export type Committed =
  | { readonly status: 'committed'; readonly stamp: number }
  | { readonly status: 'seen'; readonly seen: Seen }
  | Conflict;

const TOO_LATE: Conflict = { status: 'conflict', found: new Map(), unknown: [] };

interface Parts {
  readonly table: TableClient;
  readonly planner: Planner;
  readonly stamps: Stamps;
  readonly context: StoreContext;
}

/** Commits one proposal as one transaction, and works out why it was refused. */
export class Committer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async commit(request: Request, proposal: Proposal, row: Unplaced): Promise<Committed> {
    const { table, planner, stamps, context } = this.#parts;
    if (await this.#tooLate(proposal.not_after_ms)) return TOO_LATE;
    const stamp = stamps.next();
    const now_ms = table.time.earliest_ms();
    const plan = planner.plan({
      request,
      proposal,
      row: { ...row, born: stamp, anew: row.anew ?? this.#madeAnew(proposal) },
      stamp,
      commit_id: context.ids.uuid(),
      now_ms,
    });
    if (plan.before.length > 0) await table.write(plan.before);
    const result = await this.#send(plan.transaction, now_ms, proposal.not_after_ms);
    if (result.status !== 'committed') return result;
    await this.#tidy(plan);
    return { status: 'committed', stamp };
  }

  /**
   * A record that the store sweeps away may have existed before. A replay of the log has to know that it was
   * gone.
   */
  #madeAnew({ writes }: Proposal): string[] | undefined {
    const { entities } = this.#parts.context;
    const made = writes.filter(
      ({ kind, expected }) => expected === 0 && entityType(entities, kind).over_ms !== undefined,
    );
    return made.length === 0 ? undefined : made.map(keyText);
  }

  /**
   * True when the deadline has passed by the latest estimate of the store's time. By the earliest estimate it
   * may not have passed, and deciding again would end the same way; so this waits until both estimates agree.
   */
  async #tooLate(not_after_ms: number | undefined): Promise<boolean> {
    const { table, context } = this.#parts;
    if (not_after_ms === undefined || table.time.latest_ms() < not_after_ms) return false;
    const left_ms = not_after_ms - table.time.earliest_ms();
    if (left_ms > 0) await context.clock.sleep(left_ms + 1);
    return true;
  }

  async #send(
    planned: readonly Planned[],
    now_ms: number,
    not_after_ms: number | undefined,
  ): Promise<Committed> {
    const { table, context } = this.#parts;
    const actions = planned.map(({ action }) => action);
    const started_ms = context.clock.elapsed_ms();
    for (let tries = 1; ; tries += 1) {
      // A new token for each try: a refused transaction was not done, and its token means nothing.
      const result = await table.transact(actions, context.ids.uuid());
      if (result.done) return { status: 'committed', stamp: 0 };
      const { reasons } = result;
      const refused = reasons.some(({ Code }) => Code === 'ConditionalCheckFailed');
      if (refused) return explain(planned, reasons, now_ms);
      const passing = reasons.filter(({ Code }) => Code !== undefined && Code !== 'None');
      if (!passing.every(passes)) throw unforeseen(passing);
      if (passing.some(({ Code }) => Code === 'TransactionConflict')) {
        if (tries >= CONFLICT_TRIES_MAX) return TOO_LATE;
      } else if (context.clock.elapsed_ms() - started_ms >= THROTTLED_MS_MAX)
        throw new StoreFailure('database_unavailable', 'DynamoDB asks for patience: the table is throttled.');
      await context.clock.sleep(context.random.fraction() * Math.min(CONFLICT_PAUSE_MS_MAX, 4 * 2 ** tries));
      if (await this.#tooLate(not_after_ms)) return TOO_LATE;
    }
  }

  /** Readers recognise and skip whatever is left behind here, so a failure need not be reported. */
  async #tidy({ after }: Plan): Promise<void> {
    const { table, context } = this.#parts;
    const done: Transacted = { done: true };
    for (let start = 0; start < after.length; start += AFTER_PER_CALL) {
      const actions = after.slice(start, start + AFTER_PER_CALL);
      const result = await table.transact(actions, context.ids.uuid()).catch(() => done);
      if (result.done) continue;
      // An entry that another process has put back must not keep the remaining ones here for ever.
      const rest = actions.filter((_, at) => result.reasons[at]?.Code !== 'ConditionalCheckFailed');
      if (rest.length > 0) await table.transact(rest, context.ids.uuid()).catch(() => done);
    }
  }
}

function passes({ Code = '' }: CancellationReason): boolean {
  return Code === 'TransactionConflict' || THROTTLED.has(Code);
}

function unforeseen(reasons: readonly CancellationReason[]): StoreFailure {
  const [first] = reasons;
  const large = /size|large|exceed/i.test(first?.Message ?? '');
  const said = `DynamoDB refused the commit (${first?.Code}): ${first?.Message}`;
  return new StoreFailure(large ? 'too_large' : 'internal_error', said);
}

function explain(
  planned: readonly Planned[],
  reasons: readonly CancellationReason[],
  now_ms: number,
): Committed {
  const found = new Map<string, { item: Item | undefined }>();
  const unknown: EntityKey[] = [];
  for (const [at, { about }] of planned.entries()) {
    const { Code, Item: item } = reasons[at] ?? {};
    if (Code !== 'ConditionalCheckFailed') continue;
    if (about.is === 'operation') {
      const seen = seenIn(item, now_ms);
      if (seen !== undefined) return { status: 'seen', seen };
    }
    // Sent before and believed lost; it did arrive.
    if (about.is === 'row') return { status: 'committed', stamp: 0 };
    if (about.is === 'record') found.set(keyText(about.key), { item });
    if (about.is === 'witness') unknown.push(about.key);
    if (about.is === 'granted') {
      // Ours while it is held: then there is nothing at the other place.
      const isHeld = item?.version !== undefined && item.ttl !== undefined;
      if (isHeld) found.set(keyText(about.key), { item });
      else unknown.push(about.key);
    }
  }
  return { status: 'conflict', found, unknown };
}

/** What was committed under the operation's id, as long as the id is remembered. */
export function seenIn(item: Item | undefined, now_ms: number): Seen | undefined {
  if (item === undefined || (numberOf(item, 'at_ms') ?? 0) < now_ms - limits.operation_kept_ms)
    return undefined;
  const answer = JSON.parse(textOf(item, 'answer') ?? '{}') as JsonObject;
  return { input_digest: textOf(item, 'digest') ?? '', answer, position: 0 };
}
