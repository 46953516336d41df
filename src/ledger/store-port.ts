import type { Clock } from '../kernel/clock.ts';
import type { Ids, Random } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Trail } from './audit/audit-port.ts';
import type { Commands, Decision, Loaded, Needs, Taking } from './decision.ts';
import type { Entities } from './entity.ts';
import type { ForeignLines, ForeignProposals } from './foreign.ts';
import type { LogEntry, Request, Unplaced } from './log.ts';

export type Outcome<A extends JsonObject> =
  | {
      readonly status: 'committed';
      readonly answer: A;
      /** 0: the store puts its log in order only afterwards, so nobody knows it yet. */
      readonly position: number;
      /** True when this operation id was committed before: the answer is the first one. */
      readonly repeated: boolean;
    }
  | { readonly status: 'refused'; readonly refusal: Refusal };

/** The whole of what an engine must do. A store that cannot do it at all throws `StoreFailure`. */
export interface Store {
  /** One conditional commit: seen before? load, decide, commit if nothing it read has changed. */
  run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>>;
  /** The same for the first takeable record of an index, without callers getting in each other's way. */
  take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>>;
  /** Current records and the store's time; decides nothing. */
  find(project: string, needs: Needs): Promise<{ loaded: Loaded; now_ms: number }>;
  /** The audit row of a read or a refusal: soon, cheaply, and counted when it had to be dropped. */
  note(row: Unplaced): void;
  /** The log after a position, in order and without gaps that could still fill; `safe` is how far that is certain. */
  read(project: string, after: number, limit: number): Promise<{ entries: LogEntry[]; safe: number }>;
  /**
   * Yields when the log may have grown. A hint: `read` is the truth. What is committed after the call is not missed,
   * also when the caller is busy with the hint before. Ends when the signal says so or the store is closed.
   */
  watch(project: string, signal: AbortSignal): AsyncIterable<void>;
  /** The log as an audit trail: searched, sealed, and in the end shortened. */
  readonly trail: Trail;
  /** For people who look: which engine, and what is special about it now. */
  describe(): Promise<JsonObject>;
  /** What is asked for before an earlier call was answered is still committed behind it. */
  readonly inOrder?: boolean;
  /** Audit rows given up under pressure since this store was opened. */
  readonly dropped: number;
  close(): Promise<void>;
}

export interface StoreContext {
  readonly entities: Entities;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** How a decision is built from its name, where a store lets one process decide for others. */
  readonly commands?: Commands | undefined;
  /** For stores that other programs write, too. */
  readonly foreign?: ForeignLines | undefined;
  readonly proposals?: ForeignProposals | undefined;
  /** The project of those who open it, for what others write without naming one. */
  readonly project?: string | undefined;
  /** A process that lives as long as its agent may commit for its neighbours and through them. Short ones never do. */
  readonly sits?: boolean | undefined;
  /** A process that ends with its one call: closing need not tidy up what the next one could go on with. */
  readonly brief?: boolean | undefined;
  /** False: commits survive every end of a process, but a power cut only if something lasting follows. Default: true. */
  readonly lasting?: boolean | undefined;
}
