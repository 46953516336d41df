import type { Clock } from '../kernel/clock.ts';
import type { Ids, Random } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Trail } from './audit/audit-port.ts';
import type { Commands, Decision, Loaded, Needs, Outcome, Taking } from './decision.ts';
import type { Entities } from './entity.ts';
import type { ForeignLines, ForeignProposals } from './foreign.ts';
import type { LogEntry, Request, Unplaced } from './log.ts';

/** Everything an engine must do. A store that cannot do its work at all throws `StoreFailure`. */
export interface Store {
  /**
   * One conditional commit: look up the operation id, load, decide, commit if nothing that was read has
   * changed.
   */
  run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>>;
  /** The same for the first takeable record of an index, without contention between callers. */
  take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>>;
  /** Current records and the store's time; decides nothing. */
  find(project: string, needs: Needs): Promise<{ loaded: Loaded; now_ms: number }>;
  /**
   * The audit row of a read or a refusal: written soon and cheaply, and counted when it had to be dropped.
   */
  note(row: Unplaced): void;
  /**
   * The log after a position, in order and without gaps that could still fill; `safe` is how far that is
   * certain.
   */
  read(project: string, after: number, limit: number): Promise<{ entries: LogEntry[]; safe: number }>;
  /**
   * Yields when the log may have grown. This is a hint: `read` is the truth. No commit after the call is
   * missed, even while the caller is busy with the previous hint. Ends when the signal is aborted or the
   * store is closed.
   */
  watch(project: string, signal: AbortSignal): AsyncIterable<void>;
  /** The log as an audit trail: searched, sealed and, eventually, shortened. */
  readonly trail: Trail;
  /** For people: which engine it is, and its current special conditions. */
  describe(): Promise<JsonObject>;
  /** A call made before an earlier one was answered is still committed after it. */
  readonly inOrder?: boolean;
  /** Audit rows dropped under pressure since this store was opened. */
  readonly dropped: number;
  close(): Promise<void>;
}

export interface StoreContext {
  readonly entities: Entities;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Builds decisions from their names, for stores in which one process decides for others on the machine. */
  readonly commands?: Commands | undefined;
  /** For stores that other programs also write to. */
  readonly foreign?: ForeignLines | undefined;
  readonly proposals?: ForeignProposals | undefined;
  /** The project of the process that opens it; used for lines of other programs that name none. */
  readonly project?: string | undefined;
  /**
   * A process that lives as long as its agent may commit for its neighbours and through them. Short-lived
   * processes never do.
   */
  readonly sits?: boolean | undefined;
  /**
   * A process that ends after one call: closing need not clean up anything that the next process can continue
   * with.
   */
  readonly brief?: boolean | undefined;
  /** The process ends once it has closed the store, as after `brief`, but it checks the store like any other one. */
  readonly leaves?: boolean | undefined;
  /**
   * False: commits survive any end of the process, but a power cut only if a lasting commit follows. Default:
   * true.
   */
  readonly lasting?: boolean | undefined;
}
