import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Decision, Needs, Outcome, Taking } from '../../ledger/decision.ts';
import { type EntityKey, keyText } from '../../ledger/entity.ts';
import type { Request, Unplaced } from '../../ledger/log.ts';
import { type CommitResult, type OptimisticEngine, runOptimistically } from '../../ledger/optimistic.ts';
import { LoadedSet, type Proposal } from '../../ledger/proposal.ts';
import type { Store, StoreContext } from '../../ledger/store-port.ts';
import type { NoteBuffer } from '../note-buffer.ts';
import { Recent } from '../recent-ids.ts';
import { DynamoTrail } from './audit-trail.ts';
import { Committer, type Conflict, seenIn } from './committer.ts';
import { checkEpoch } from './epoch.ts';
import { operationPlace } from './item-layout.ts';
import { Loader } from './loader.ts';
import { createNotes } from './notes.ts';
import { Log } from './ordered-log.ts';
import { Stamps } from './stamps.ts';
import { parseAddress } from './table-address.ts';
import { TableClient } from './table-client.ts';
import { Planner } from './transaction-plan.ts';
import { Watch } from './watch.ts';

const TAKES_MAX = 3;
const CLOSE_MS_MAX = 1000;

export async function openDynamoDb(url: string, context: StoreContext): Promise<Store> {
  const table = new TableClient(parseAddress(url), context);
  try {
    // This is also the first reading of the store's time, without which nothing can be decided.
    await checkEpoch(table, context.ids.uuid());
  } catch (error) {
    table.close();
    throw error;
  }
  return new DynamoStore(table, context);
}

/** What the attempts of one call have learned. */
interface Attempts {
  /** A failed transaction has shown what is stored, so another guess is worthwhile. */
  shown: boolean;
  /**
   * The keys that were guessed since. The same keys again: that guess led to a refusal, and a refusal has to
   * be certain.
   */
  readonly guessed: Set<string>;
  /** Records that other callers were changing when this call wanted to take them. */
  readonly passed: Set<string>;
  readonly takes?: boolean;
}

class DynamoStore implements Store, OptimisticEngine {
  readonly trail: DynamoTrail;
  readonly #table: TableClient;
  readonly #context: StoreContext;
  readonly #log: Log;
  readonly #notes: NoteBuffer;
  readonly #watch: Watch;
  readonly #loader: Loader;
  readonly #committer: Committer;
  readonly #recent = new Recent();
  readonly #attempts = new WeakMap<Request, Attempts>();
  #closed = false;

  constructor(table: TableClient, context: StoreContext) {
    this.#table = table;
    this.#context = context;
    const stamps = new Stamps(table.time);
    this.#log = new Log(table, context.ids);
    this.#watch = new Watch(this.#log);
    this.trail = new DynamoTrail(table, this.#log, context.ids);
    this.#notes = createNotes(table, stamps, context.ids, (project) => this.#watch.grown(project));
    this.#loader = new Loader(table, context.entities, stamps);
    const planner = new Planner(table.address.table, context.entities);
    this.#committer = new Committer({ table, planner, stamps, context });
  }

  get dropped(): number {
    return this.#notes.dropped;
  }

  async run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    this.#assertOpen();
    this.#attempts.set(request, { shown: false, guessed: new Set(), passed: new Set() });
    return await runOptimistically(this, this.#context, request, decision);
  }

  /**
   * A caller that finds its record being changed by another skips it, instead of both contending for the next
   * one again.
   */
  async take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    this.#assertOpen();
    for (let round = 1; ; round += 1) {
      const attempts = { shown: false, guessed: new Set<string>(), passed: new Set<string>(), takes: true };
      this.#attempts.set(request, attempts);
      const outcome = await runOptimistically(this, this.#context, request, taking.decision);
      // It may be free again by now: a caller must not hear that nothing is available because of records it
      // skipped.
      const passed = attempts.passed.size;
      if (outcome.status === 'committed' || passed === 0 || round === TAKES_MAX) return outcome;
    }
  }

  async find(project: string, needs: Needs) {
    this.#assertOpen();
    const loaded = new LoadedSet();
    await this.#loader.load(project, needs, loaded);
    return { loaded, now_ms: this.estimate_ms() };
  }

  estimate_ms(): number {
    return this.#table.time.earliest_ms();
  }

  async load(request: Request, needs: Needs, into: LoadedSet, sure: boolean) {
    const { project } = request;
    const { keys = [], ranges = [] } = needs;
    const attempts = this.#attempts.get(request);
    if (ranges.length === 0 && keys.length > 0 && (!sure || mayGuess(attempts, keys))) {
      // A guess takes a record that this process has never seen as missing. The commit proves that, or says
      // what is there.
      for (const key of keys) into.put(key, this.#recent.get(project, key));
      return { now_ms: this.estimate_ms(), seen: undefined, unsure: true };
    }
    if (attempts !== undefined) attempts.shown = false;
    const operation = request.input_digest === '' ? undefined : operationPlace(request);
    const loaded = new LoadedSet();
    const item = await this.#loader.load(project, needs, loaded, operation);
    const now_ms = this.estimate_ms();
    for (const key of keys) {
      const record = loaded.get<JsonObject>(key);
      this.#recent.putSeen(project, key, record);
      into.put(key, record);
    }
    for (const range of ranges)
      into.putList(
        range,
        loaded.list<JsonObject>(range).filter((record) => attempts?.passed.has(keyText(record)) !== true),
      );
    return { now_ms, seen: seenIn(item, now_ms) };
  }

  async commit(request: Request, proposal: Proposal, row: Unplaced): Promise<CommitResult> {
    const { project } = request;
    const result = await this.#committer.commit(request, proposal, row);
    const keys = [...proposal.writes, ...proposal.expects];
    if (result.status === 'committed') {
      for (const { kind, id, version, born, state } of proposal.writes)
        this.#recent.put(project, { kind, id, version, born: born ?? result.stamp, state });
      this.#watch.grown(project);
      return { status: 'committed', position: 0 };
    }
    if (result.status === 'seen') {
      this.#recent.forget(project, keys);
      return result;
    }
    this.#learn(request, keys, result);
    return { status: 'conflict' };
  }

  /**
   * Remembers what is stored instead, so that the next attempt need not read it. What is unknown is
   * forgotten.
   */
  #learn(request: Request, keys: readonly EntityKey[], { found, unknown }: Conflict): void {
    const attempts = this.#attempts.get(request);
    for (const key of keys) {
      const shown = found.get(keyText(key));
      if (shown === undefined) continue;
      this.#recent.putSeen(request.project, key, this.#loader.record(key, shown.item));
      if (attempts?.takes === true) attempts.passed.add(keyText(key));
    }
    this.#recent.forget(request.project, unknown);
    if (attempts === undefined) return;
    attempts.shown = found.size > 0 && unknown.length === 0;
    attempts.guessed.clear();
  }

  note(row: Unplaced): void {
    if (!this.#closed) this.#notes.add(row);
  }

  async read(project: string, after: number, limit: number) {
    this.#assertOpen();
    return await this.#log.read(project, after, limit);
  }

  watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#watch.watch(project, signal);
  }

  async describe(): Promise<JsonObject> {
    const { table, region, endpoint } = this.#table.address;
    const { time } = this.#table;
    const uncertain_ms = time.latest_ms() - time.earliest_ms();
    return { engine: 'dynamodb', table, region, endpoint, time_known_to_ms: uncertain_ms };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const limit = new AbortController();
    const late = this.#context.clock.sleep(CLOSE_MS_MAX, limit.signal).catch(() => {});
    await Promise.race([late, this.#notes.flush()]);
    limit.abort();
    this.#closed = true;
    this.#watch.close();
    this.#table.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreFailure('database_unavailable', 'This store has been closed.');
  }
}

function mayGuess(attempts: Attempts | undefined, keys: readonly EntityKey[]): boolean {
  if (attempts?.shown !== true) return false;
  const names = keys.map(keyText).join('\n');
  if (attempts.guessed.has(names)) return false;
  attempts.guessed.add(names);
  return true;
}
