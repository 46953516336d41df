import { compareBytes } from '../../kernel/byte-order.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Decision, Needs, Outcome, Range, Taking } from '../../ledger/decision.ts';
import { type EntityKey, type EntityRecord, type IndexKeys, keyText } from '../../ledger/entity.ts';
import { inIndexOrder, keysOf, type Placed } from '../../ledger/index-order.ts';
import type { LogEntry, Request, Unplaced } from '../../ledger/log.ts';
import {
  type CommitResult,
  type OptimisticEngine,
  runOptimistically,
  type Seen,
} from '../../ledger/optimistic.ts';
import { LoadedSet, type Proposal, stateTooLarge } from '../../ledger/proposal.ts';
import type { Store, StoreContext } from '../../ledger/store-port.ts';
import { MemoryTrail } from './audit-trail.ts';

/** Where the simulation may let other callers go first, or break the connection. */
export type Point = 'load' | 'before_commit' | 'after_commit';

export interface MemoryOptions {
  /** Awaited at each point of each operation; throwing there is a fault (a lost answer, a store that is away). */
  readonly at?: (point: Point, request: Request) => Promise<void> | void;
}

interface Stored {
  readonly record: EntityRecord;
  readonly keys: IndexKeys;
}

/**
 * The reference store: everything in maps, every rule of the port, the tightest limits. It decides
 * optimistically like the networked stores, so that the simulation can put any interleaving between load and
 * commit.
 */
export class MemoryStore implements Store, OptimisticEngine {
  readonly dropped = 0;
  readonly #projects = new Map<string, Map<string, Stored>>();
  readonly #operations = new Map<string, Seen & { at_ms: number }>();
  readonly #log: (LogEntry | undefined)[] = [];
  readonly trail = new MemoryTrail(this.#log, (row) => this.#append(row));
  readonly #watchers = new Set<() => void>();
  readonly #context: StoreContext;
  readonly #options: MemoryOptions;
  #closed = false;

  constructor(context: StoreContext, options: MemoryOptions = {}) {
    this.#context = context;
    this.#options = options;
  }

  async run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    return await runOptimistically(this, this.#context, request, decision);
  }

  async take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    return await this.run(request, taking.decision);
  }

  async find(project: string, needs: Needs) {
    const loaded = new LoadedSet();
    this.#fill(project, needs, loaded);
    return { loaded, now_ms: this.#context.clock.now_ms() };
  }

  estimate_ms(): number {
    return this.#context.clock.now_ms();
  }

  async load(request: Request, needs: Needs, into: LoadedSet) {
    await this.#options.at?.('load', request);
    this.#fill(request.project, needs, into);
    return { now_ms: this.#context.clock.now_ms(), seen: this.#seen(request) };
  }

  async commit(request: Request, proposal: Proposal, row: Unplaced): Promise<CommitResult> {
    await this.#options.at?.('before_commit', request);
    const result = this.#commitNow(request, proposal, row);
    await this.#options.at?.('after_commit', request);
    return result;
  }

  #commitNow(request: Request, proposal: Proposal, row: Unplaced): CommitResult {
    const seen = this.#seen(request);
    if (seen !== undefined) return { status: 'seen', seen };
    const records = this.#records(request.project);
    for (const expectation of proposal.expects) {
      if (version(records, expectation) !== expectation.version) return { status: 'conflict' };
    }
    for (const write of proposal.writes) {
      if (version(records, write) !== write.expected) return { status: 'conflict' };
    }
    if (proposal.not_after_ms !== undefined && this.#context.clock.now_ms() >= proposal.not_after_ms)
      return { status: 'conflict' };
    const position = this.#log.length + 1;
    const stored = proposal.writes.map(({ kind, id, version, born, state, keys }) => {
      const text = JSON.stringify(state);
      const tooLarge = stateTooLarge(kind, text);
      if (tooLarge !== undefined) throw new StoreFailure('too_large', tooLarge.message);
      // Through JSON, like every engine: nothing survives here that would not survive a restart.
      const record = { kind, id, version, born: born ?? position, state: JSON.parse(text) as JsonObject };
      return { record, keys };
    });
    // Only when all of them fit: a commit is all or nothing.
    for (const each of stored) records.set(keyText(each.record), each);
    this.#append(row);
    // Not the row's own time: that of a copied row may be long ago.
    const at_ms = this.#context.clock.now_ms();
    const kept = { input_digest: request.input_digest, answer: row.result, position, at_ms };
    this.#operations.set(operationKey(request), kept);
    return { status: 'committed', position };
  }

  note(row: Unplaced): void {
    this.#append(row);
  }

  async read(project: string, after: number, limit: number) {
    const entries: LogEntry[] = [];
    for (let index = after; index < this.#log.length && entries.length < limit; index += 1) {
      const entry = this.#log[index];
      if (entry !== undefined && entry.project === project) entries.push(entry);
    }
    return { entries, safe: this.#log.length };
  }

  watch(_project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#hints(signal, this.#log.length);
  }

  async *#hints(signal: AbortSignal, first: number): AsyncIterable<void> {
    for (let seen = first; ; ) {
      while (seen === this.#log.length && !signal.aborted && !this.#closed) await this.#woken(signal);
      if (signal.aborted || this.#closed) return;
      seen = this.#log.length;
      yield;
    }
  }

  async describe() {
    return { engine: 'memory' };
  }

  async #woken(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#watchers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of [...this.#watchers]) wake();
  }

  #append(row: Unplaced): void {
    this.#log.push(JSON.parse(JSON.stringify({ position: this.#log.length + 1, ...row })) as LogEntry);
    for (const wake of [...this.#watchers]) wake();
  }

  #seen(request: Request): Seen | undefined {
    const seen = this.#operations.get(operationKey(request));
    const tooOld = this.#context.clock.now_ms() - limits.operation_kept_ms;
    return seen === undefined || seen.at_ms < tooOld ? undefined : seen;
  }

  #records(project: string): Map<string, Stored> {
    let records = this.#projects.get(project);
    if (records === undefined) {
      records = new Map();
      this.#projects.set(project, records);
    }
    return records;
  }

  #fill(project: string, needs: Needs, into: LoadedSet): void {
    const records = this.#records(project);
    for (const key of needs.keys ?? []) into.put(key, records.get(keyText(key))?.record);
    for (const range of needs.ranges ?? []) into.putList(range, select(records, range));
  }
}

function operationKey(request: Request): string {
  return `${request.project}\0${request.actor.agent_id}\0${request.operation_id}`;
}

function version(records: Map<string, Stored>, key: EntityKey): number {
  return records.get(keyText(key))?.record.version ?? 0;
}

function select(records: Map<string, Stored>, range: Range): EntityRecord[] {
  const found: Placed[] = [];
  for (const { record, keys } of records.values()) {
    if (record.kind !== range.kind) continue;
    for (const key of keysOf(record, keys, range.by)) {
      if (compareBytes(key, range.from) >= 0 && compareBytes(key, range.before) < 0)
        found.push({ key, record });
    }
  }
  found.sort((a, b) => inIndexOrder(a.key, a.record, b.key, b.record));
  return found.slice(0, Math.min(range.limit, limits.range_rows_max)).map(({ record }) => record);
}
