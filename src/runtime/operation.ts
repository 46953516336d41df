import type { Area } from '../kernel/area.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { AuditPage, AuditQuery, Window } from '../ledger/audit/search.ts';
import type { Decision, Loaded, Needs, Outcome, Taking } from '../ledger/decision.ts';
import type { Caller } from '../ledger/lease.ts';
import type { Actor } from '../ledger/log.ts';
import type { Settled } from '../ledger/proposal.ts';
import type { DoorName, Permission, TrustLevel, Uses } from './access.ts';
import type { Service } from './service.ts';
import type { Hints, Matters } from './waiting.ts';

/**
 * What the transport knows about the caller beyond its name: an agent behind a key; an operator, which is a local command or process
 * that could read the store anyway; or a person, proven to be one.
 */
export type Authority = 'agent' | 'operator' | 'person';

/** How the sessions of agents are kept track of. The sessions slice implements it. */
export interface PresenceTracker {
  /** One sign of life stands for all calls of a connection within so long. */
  readonly touch_ms: number;
  readonly idle_ms: number;
  readonly stale_ms: number;
  sign(
    actor: Actor,
    sign: {
      readonly active: boolean;
      readonly calls: number;
      readonly enough_ms: number;
      readonly capabilities?: readonly string[] | undefined;
    },
  ): Decision<JsonObject>;
  /** Frees what dead sessions held. True: something was freed, and asking again is worth it. */
  reclaim(step: Step): Promise<boolean>;
}

/** The grants made through one connection: what a release or a completion without a token means. */
export interface Grants {
  of(key: string): number | undefined;
  remember(key: string, token: number): void;
  /** What was locked under a name as the caller wrote it. */
  lockNamed(name: string): Area | undefined;
  rememberName(name: string, area: Area): void;
  forgetName(name: string): void;
  /** Without a token: whatever was known of it. */
  forget(key: string, token: number | undefined): void;
}

/** One file or folder, or several. */
export interface AreasInput {
  file_path?: string | undefined;
  file_paths?: string[] | undefined;
}

/** What a call names, without duplicates. */
export interface NamedAreas {
  readonly areas: Area[];
  /** Named by the single-path parameter, and so answered in that form. */
  readonly single: boolean;
  /** Every name as written, and what it stands for. */
  readonly names: ReadonlyMap<string, Area>;
}

/** What the coordinator lends to a handler for one call. Everything it commits carries the call's identity and row. */
export interface Step {
  readonly caller: Caller;
  readonly authority: Authority;
  /** The way the caller came in. */
  readonly door: DoorName | undefined;
  /** Undefined in the simulation, which has no sessions. */
  readonly presence: PresenceTracker | undefined;
  /** Something of this place that the operation's slice has declared. */
  use<T>(service: Service<T>): T;
  /** Frees what dead sessions held. True: something was freed, and asking again is worth it. */
  reclaimFromDeadSessions(): Promise<boolean>;
  /** The caller's name was made up: none was configured. */
  readonly unnamed: boolean;
  /** The role of the caller where it names none (`AGENT_ROLE`). */
  readonly agent_role: string | undefined;
  readonly project: string;
  readonly ids: Ids;
  /** The grants made through this connection: what a release without a token means. Key: `lock/…` or `task/…`. */
  readonly grants: Grants;
  /** The top of the workspace. */
  readonly root: string;
  /** `COX_WORK_DIR`: the folder with the task files, from the top; else a usual one. */
  readonly work_dir: string | undefined;
  /** Something was committed that people are to hear of. Starts telling them and does not wait for it. */
  announce(): void;
  /** The one normal form of a path, or why it has none. */
  path(input: string, field: string): string | Refusal;
  /** The same for what can be locked: a file, a folder, a pattern. */
  area(input: string, field: string): Area | Refusal;
  /** What the caller's profile has to say is decided in the same commit, and what it uses up is counted there. */
  run<A extends JsonObject>(decision: Decision<A>, uses?: Uses): Promise<Outcome<A>>;
  take<A extends JsonObject>(taking: Taking<A>): Promise<Outcome<A>>;
  /** For bounds on input only; decisions get the store’s time. */
  now_ms(): number;
  /** Monotonic, for how long a caller waits. */
  elapsed_ms(): number;
  /** Aborted when the caller has gone or does not want it any more. */
  readonly signal: AbortSignal;
  /** Says when something was committed that can matter. */
  hints(matters: Matters): Hints;
  /** What the decision would be now. Commits nothing and leaves no row. */
  consider<A extends JsonObject>(decision: Decision<A>): Promise<Settled<A>>;
  /** Reports to the client that the call waits, and why. */
  waiting(why: JsonObject): void;
  /** A call that waits for long says from time to time that its agent does, or it would be taken for dead. */
  stillHere(): Promise<void>;
  find(needs: Needs): Promise<{ loaded: Loaded; now_ms: number }>;
  /** Rows of the log, newest first. Who may see which is the operation's business. */
  search(query: AuditQuery): Promise<AuditPage>;
  /** The rows of the log since a moment, in order, the newest of them if there are more than `rows_max`. */
  rowsSince(since_ms: number, rows_max: number): Promise<Window>;
  /** A commit of the product's own, such as releasing dependents; it has a row of its own in the log. */
  chore<A extends JsonObject>(name: string, decision: Decision<A>): Promise<Outcome<A>>;
}

export type Parsed<I> =
  | { readonly ok: true; readonly value: I }
  | { readonly ok: false; readonly refusal: Refusal };

/** Made from a zod schema in `runtime/input-schema.ts`; hidden behind an interface so that the loop needs no schema library. */
export interface InputSchema<I, Given = unknown> {
  parse(input: unknown): Parsed<I>;
  readonly json: JsonObject;
  /** For the compiler only: what may be given, before defaults are filled in. The library's methods are typed by it. */
  readonly given?: Given;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** What a caller has to be, and to be allowed, for a command. */
export interface Access {
  /** For operators and persons: no agent's key permits it, and it is no MCP tool. */
  readonly administers?: true;
  /** For a proven person alone, through every transport; it is no MCP tool. */
  readonly personal?: true;
  /** What it does beyond coordinating, which the caller's profile has to allow. */
  readonly permission?: Permission;
  /** The least trust it takes; a person needs none. */
  readonly trust?: TrustLevel;
  /** Gives back, reports or ends: possible also when a profile's time is up. */
  readonly winds_down?: true;
}

/**
 * What the one loop carries out. By itself it is internal: no transport offers it, and only our own code asks for it, with an input
 * that it has built.
 */
export interface InternalCommand<I extends object = object> extends Access {
  /** The name in the log, and on the wire: `acquire_lock`. */
  readonly name: string;
  /** The first of the command line's words, `lock`; a profile may allow or block the whole group. */
  readonly group: string;
  /** False: changes nothing, safe to repeat, no operation id. */
  readonly mutates: boolean;
  /** All it changes is in one commit of its own (`run`), which proves the rules it went by: what lets it try may be old. */
  readonly proven?: boolean | undefined;
  /** Says itself that the agent is there, or has gone; the loop does not say it again. */
  readonly signs?: 'here' | 'gone';
  /** Answered by this machine alone: the store is not opened for it and need not be up. */
  readonly machine?: true;
  /** Fields whose value stands in no log, not even in part. */
  readonly unlogged?: readonly string[];
  handle(input: I, step: Step): Promise<JsonObject>;
}

/** How the command line offers an operation. */
export interface CommandLineForm {
  /** The second of its words: `cox lock acquire`. */
  readonly verb: string;
  /** Other words that people guess: `cox lock list`. They are not shown, but they work. */
  readonly also?: readonly string[];
  /** The field that is filled with the contents of the file that is named. */
  readonly file?: string;
  /** The arguments without a flag, in order. */
  readonly positional?: readonly string[];
  /** The list that takes all arguments when there is more than the one positional one. */
  readonly several?: string;
  /** The field that says for how long the call may wait; Ctrl-C then means "not any more". */
  readonly waits?: string;
  readonly examples: readonly string[];
}

/** How HTTP offers an operation. */
export interface HttpForm {
  readonly route: Route;
  /** Other addresses under which users of other coordinators know it. */
  readonly aliases?: readonly Route[];
  /** Needs no key. */
  readonly open?: true;
  /** An input that works as it stands: the example of the OpenAPI document, which a test sends. */
  readonly sample?: JsonObject;
}

/** What an MCP client is told about an operation. */
export interface ToolForm {
  /** Offered by default; the list costs every agent context. */
  readonly standard: boolean;
  /** Ends or takes away what other agents may count on: a client may want to ask its person first. */
  readonly destructive?: true;
  /** Asked for again with the same input it changes nothing more, so a client may simply try again. */
  readonly repeatable?: true;
}

/**
 * One thing that can be asked for. From this declaration come the MCP tool, the HTTP route, the CLI command, the library
 * method and the audit row; a new operation is a new declaration and nothing else.
 */
export interface Operation<I extends object = object>
  extends InternalCommand<I>,
    CommandLineForm,
    HttpForm,
    ToolForm {
  readonly summary: string;
  /** Behind a function: importing the schema library would triple the start of a short command. */
  input(): Promise<InputSchema<I>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the loop erases each command's own input type.
export type AnyCommand = InternalCommand<any>;

// biome-ignore lint/suspicious/noExplicitAny: a list of operations erases each one's own input type.
export type AnyOperation = Operation<any>;
