import type { JsonObject } from '../../kernel/json.ts';
import {
  type Decision,
  type Needs,
  type Outcome,
  type Taking,
  withoutCommit,
} from '../../ledger/decision.ts';
import { type LogEntry, logRow, type Request, type Unplaced } from '../../ledger/log.ts';
import {
  type CommitResult,
  type OptimisticEngine,
  recall,
  runOptimistically,
} from '../../ledger/optimistic.ts';
import { LoadedSet, type Proposal } from '../../ledger/proposal.ts';
import type { Store, StoreContext } from '../../ledger/store-port.ts';
import type { NoteBuffer } from '../note-buffer.ts';
import { Recent } from '../recent-ids.ts';
import { PostgresTrail } from './audit-trail.ts';
import { Database, ignore, parseUrl, STEP_MS_MAX } from './database.ts';
import { faultOf } from './failures.ts';
import { Lane, type Waiting } from './lane.ts';
import {
  type LoadAnswer,
  type LoadJob,
  type LoadResult,
  loadJob,
  loadResults,
  loadValues,
  recordOf,
} from './load-group.ts';
import { migrate } from './migrate.ts';
import { createNotes } from './notes.ts';
import { Watch } from './watch.ts';
import {
  commitJob,
  type GroupAnswer,
  groupResults,
  groupValues,
  type RawRecord,
  takeJob,
  type WriteJob,
  type WriteResult,
} from './write-group.ts';

const COMMIT = {
  name: 'cox_commit',
  text: `SELECT coxswain.write_group(${Array.from({ length: 19 }, (_, n) => `$${n + 1}`).join(', ')}) AS r`,
};
const LOAD = { name: 'cox_load', text: 'SELECT coxswain.load_group($1, $2, $3) AS r' };
const READ = { name: 'cox_read', text: 'SELECT coxswain.read_log($1, $2, $3) AS r' };
const PRUNE = { name: 'cox_prune', text: 'SELECT coxswain.prune_operations($1)::integer AS r' };
const MISSING = { name: 'cox_missing', text: 'SELECT coxswain.missing() AS r' };
const MISSING_REMEDY =
  'Only PostgREST and Supabase need it. Let an administrator create what is missing (CREATE ROLE … NOLOGIN), then run ' +
  'SELECT coxswain.bootstrap() as the owner of the schema coxswain.';

// Measured on two cores, durable, 16 callers: with 1 the server is idle while we answer; with 4 and more the
// groups get small.
const WRITES_AT_ONCE = 2;
const LOADS_AT_ONCE = 1;
const JOBS_PER_CALL = 64;
/** Advisory locks of one call. The server has 64 for each of its connections, shared by all clients. */
const LOCKS_PER_CALL = 400;
const NOTES_PER_GROUP = 64;
const PRUNE_EVERY_MS = 60_000;
const PRUNE_ROWS = 2000;
const CLOSE_MS_MAX = 1000;
const TAKES_MAX = 3;

export async function openPostgres(url: string, context: StoreContext): Promise<Store> {
  const { config, connections_max } = parseUrl(url);
  const database = new Database(config, connections_max, context.clock);
  const position = await migrate(database);
  return new PostgresStore(database, context, connections_max, position);
}

class PostgresStore implements Store, OptimisticEngine {
  readonly #database: Database;
  readonly #context: StoreContext;
  readonly #writes: Lane<WriteJob, WriteResult>;
  readonly #loads: Lane<LoadJob, LoadResult>;
  readonly #notes: NoteBuffer;
  readonly #recent = new Recent();
  /** The end of the log as far as this process has heard. */
  #position: number;
  readonly #watch: Watch;
  readonly #pruneTimer: NodeJS.Timeout;
  readonly trail: PostgresTrail;

  constructor(database: Database, context: StoreContext, connections_max: number, position: number) {
    this.#database = database;
    this.#position = position;
    this.#context = context;
    this.#watch = new Watch(database);
    this.trail = new PostgresTrail(database);
    this.#notes = createNotes(database, (projects) => this.#watch.grown(projects));
    const shared = { jobs_max: JOBS_PER_CALL, weight_max: LOCKS_PER_CALL, clock: context.clock };
    this.#writes = new Lane({
      ...shared,
      width: Math.min(WRITES_AT_ONCE, connections_max - 1),
      send: (group) => this.#sendWrites(group),
    });
    this.#loads = new Lane({
      ...shared,
      width: Math.min(LOADS_AT_ONCE, connections_max - 1),
      send: (group) => this.#sendLoads(group),
    });
    this.#pruneTimer = setInterval(() => void this.#prune().catch(ignore), PRUNE_EVERY_MS).unref();
  }

  get dropped(): number {
    return this.#notes.dropped;
  }

  async run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    return await runOptimistically(this, this.#context, request, decision);
  }

  async take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    if (taking.name !== 'get_work') return await this.run(request, taking.decision);
    for (let attempt = 0; attempt < TAKES_MAX; attempt += 1) {
      const row = logRow(request, {}, [], 0, this.#context.clock.elapsed_ms());
      const result = await this.#writes.push(takeJob(request, taking.args, row));
      if (result.status === 'seen') return recall<A>(request, result.seen);
      if (result.status === 'committed') {
        for (const record of result.records ?? [])
          this.#recent.put(request.project, recordOf('task', record));
        return {
          status: 'committed',
          answer: result.answer as A,
          position: result.position,
          repeated: false,
        };
      }
      if (result.status === 'conflict') continue;
      // A task is ready but locked or being changed: the full decision says why, or finds it free by now.
      if (result.status === 'none' && result.ready) break;
      const due = result.status === 'due' ? result.record : undefined;
      const empty = withNothingReady(taking.decision, result.now_ms, due);
      if (empty === undefined) break;
      return empty;
    }
    return await this.run(request, taking.decision);
  }

  async find(project: string, needs: Needs) {
    const loaded = new LoadedSet();
    const result = await this.#loads.push(loadJob(project, needs, undefined));
    result.fill(loaded);
    return { loaded, now_ms: result.now_ms };
  }

  estimate_ms(): number {
    return this.#database.estimate_ms();
  }

  async load(request: Request, needs: Needs, into: LoadedSet, sure: boolean) {
    if (!sure && this.#recollect(request.project, needs, into))
      return { now_ms: this.estimate_ms(), seen: undefined, unsure: true };
    const result = await this.#loads.push(loadJob(request.project, needs, request));
    result.fill(into);
    for (const key of needs.keys ?? [])
      if (this.#context.entities.get(key.kind)?.steady)
        this.#recent.putSeen(request.project, key, into.get(key));
    return { now_ms: result.now_ms, seen: result.seen };
  }

  async commit(request: Request, proposal: Proposal, row: Unplaced): Promise<CommitResult> {
    const result = await this.#writes.push(commitJob(request, proposal, row));
    if (result.status === 'due' || result.status === 'none')
      throw new Error('a commit was answered like a take');
    if (result.status === 'committed')
      for (const { kind, id, version, born, state } of proposal.writes)
        this.#recent.put(request.project, { kind, id, version, born: born ?? result.position, state });
    else this.#recent.forget(request.project, [...proposal.writes, ...proposal.expects]);
    return result;
  }

  /**
   * True when everything needed is something this process wrote itself not long ago, or something that hardly
   * ever changes.
   */
  #recollect(project: string, { keys = [], ranges = [] }: Needs, into: LoadedSet): boolean {
    if (keys.length === 0 || ranges.length > 0) return false;
    if (!keys.every((key) => this.#recent.knows(project, key))) return false;
    for (const key of keys) into.put(key, this.#recent.get(project, key));
    return true;
  }

  note(row: Unplaced): void {
    this.#notes.add(row);
  }

  async read(project: string, after: number, limit: number) {
    const deadline_ms = this.#context.clock.elapsed_ms() + STEP_MS_MAX;
    const answer = await this.#database.call<{ safe: number; entries: LogEntry[] | null }>(
      READ,
      () => [project, after, limit],
      deadline_ms,
    );
    return { entries: answer.entries ?? [], safe: answer.safe };
  }

  watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#watch.watch(project, signal);
  }

  async describe(): Promise<JsonObject> {
    const deadline_ms = this.#context.clock.elapsed_ms() + STEP_MS_MAX;
    const missing = await this.#database.call<string[]>(MISSING, () => [], deadline_ms);
    return { engine: 'postgresql', ...(missing.length === 0 ? {} : { missing, remedy: MISSING_REMEDY }) };
  }

  async close(): Promise<void> {
    clearInterval(this.#pruneTimer);
    const limit = new AbortController();
    const late = this.#context.clock.sleep(CLOSE_MS_MAX, limit.signal).catch(ignore);
    await Promise.race([late, this.#notes.flush().then(() => this.#watch.sendHint())]);
    this.#watch.close();
    await Promise.race([late, this.#database.close()]);
    limit.abort();
  }

  async #sendWrites(group: readonly Waiting<WriteJob>[]): Promise<readonly WriteResult[]> {
    const jobs = group.map(({ job }) => job);
    // Not together with a job that failed before: one of these notes may have made its group fail.
    const notes = group[0]?.tries === 0 ? this.#notes.take(NOTES_PER_GROUP) : [];
    let riding = notes.map((row) => JSON.stringify(row));
    const known = this.#position;
    let resent_after: number | undefined;
    const values = () => {
      const until_ms = (index: number) => this.#until_ms(group[index]?.deadline_ms ?? 0);
      const all = groupValues(jobs, until_ms, riding, resent_after);
      // Only the first try carries notes: they have no operation id by which a second try would be
      // recognised.
      riding = [];
      resent_after = known;
      return all;
    };
    const send = () => this.#database.call<string>(COMMIT, values, latest(group));
    const text = await send().catch((error: unknown) => {
      this.#notes.drop(notes.length);
      // Nothing was done, and a note may be the cause: no call may fail because of the notes sent with it.
      if (notes.length === 0 || faultOf(error) !== 'final') throw error;
      return send();
    });
    const answer = JSON.parse(text) as GroupAnswer;
    this.#database.learnTime(answer.now);
    const results = groupResults(jobs, answer);
    for (const result of results)
      if (result.status === 'committed') this.#position = Math.max(this.#position, result.position);
    this.#watch.grown(
      new Set(jobs.flatMap(({ project }, i) => (results[i]?.status === 'committed' ? [project] : []))),
    );
    return results;
  }

  async #sendLoads(group: readonly Waiting<LoadJob>[]): Promise<readonly LoadResult[]> {
    const jobs = group.map(({ job }) => job);
    const answer = await this.#database.call<LoadAnswer>(LOAD, () => loadValues(jobs), latest(group));
    this.#database.learnTime(answer.now);
    return loadResults(jobs, answer);
  }

  /**
   * The server's time at which the caller gives up. Slightly late, because the estimate is slightly early.
   */
  #until_ms(deadline_ms: number): number {
    return this.#database.estimate_ms() + Math.ceil(deadline_ms - this.#context.clock.elapsed_ms()) + 50;
  }

  async #prune(): Promise<void> {
    const deadline_ms = this.#context.clock.elapsed_ms() + PRUNE_EVERY_MS / 4;
    for (let gone = PRUNE_ROWS; gone === PRUNE_ROWS && this.#context.clock.elapsed_ms() < deadline_ms; )
      gone = await this.#database.call<number>(PRUNE, () => [PRUNE_ROWS], deadline_ms);
  }
}

function latest(group: readonly Waiting<unknown>[]): number {
  return Math.max(...group.map(({ deadline_ms }) => deadline_ms));
}

/**
 * When nothing is ready, the decision itself says what follows: its ranges are empty except for what is due.
 */
function withNothingReady(
  decision: Decision<JsonObject>,
  now_ms: number,
  due: RawRecord | undefined,
): Outcome<never> | undefined {
  const loaded = new LoadedSet();
  for (const key of decision.needs.keys ?? []) loaded.put(key, undefined);
  for (const range of decision.needs.ranges ?? [])
    loaded.putList(range, due !== undefined && range.from === 'due/' ? [recordOf(range.kind, due)] : []);
  const verdict = decision.decide(loaded, now_ms);
  return verdict.verdict === 'commit' || verdict.verdict === 'need' ? undefined : withoutCommit(verdict);
}
