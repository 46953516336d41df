import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { EntityKey, EntityRecord, EventBody } from './entity.ts';
import type { Unplaced } from './log.ts';

/** Records of one kind with `from <= key < before`, ordered by (key, born, id). */
export interface Range {
  readonly by: 'id' | 'sort' | 'group' | 'link';
  readonly kind: string;
  readonly from: string;
  readonly before: string;
  readonly limit: number;
}

export interface Needs {
  readonly keys?: readonly EntityKey[];
  readonly ranges?: readonly Range[];
}

/** What a decision has loaded. Reading something that was not loaded is a bug in the decider and throws. */
export interface Loaded {
  get<S = JsonObject>(key: EntityKey): EntityRecord<S> | undefined;
  list<S = JsonObject>(range: Range): readonly EntityRecord<S>[];
  has(key: EntityKey): boolean;
  /** Loaded by its key, and so expected unchanged; a record that was only seen in a range is not. */
  hasKey(key: EntityKey): boolean;
  hasList(range: Range): boolean;
}

/**
 * Something else has to be committed or read before this can be decided. The operation that asked does it and asks again; no agent
 * sees it. Plain JSON, because the answer may come from the seat.
 */
export interface FirstStep extends JsonObject {
  readonly step: string;
}

export type Verdict<A extends JsonObject> =
  | {
      readonly verdict: 'commit';
      readonly events: readonly EventBody[];
      readonly answer: A;
      /** The earliest expiry that must still lie ahead at the commit: once it has passed, decide again. */
      readonly not_after_ms?: number | undefined;
      /** The row of another store's log that this copies: it is written unchanged, with its own time. */
      readonly copied?: Unplaced | undefined;
    }
  | { readonly verdict: 'refuse'; readonly refusal: Refusal }
  | { readonly verdict: 'first'; readonly first: FirstStep }
  | { readonly verdict: 'need'; readonly needs: Needs };

export type Outcome<A extends JsonObject> =
  | {
      readonly status: 'committed';
      readonly answer: A;
      /** 0: the store orders its log only afterwards, so the position is not known yet. */
      readonly position: number;
      /** True when this operation id was committed before: the answer is the first one. */
      readonly repeated: boolean;
    }
  | { readonly status: 'refused'; readonly refusal: Refusal }
  /** Nothing was committed: the caller has to do this and ask again. */
  | { readonly status: 'first'; readonly first: FirstStep };

/** What a decision without a commit is for the caller of a store. */
export function withoutCommit(
  verdict: Exclude<Verdict<JsonObject>, { verdict: 'commit' | 'need' }>,
): Outcome<never> {
  return verdict.verdict === 'refuse'
    ? { status: 'refused', refusal: verdict.refusal }
    : { status: 'first', first: verdict.first };
}

/** For an operation that leaves nothing to be done first, or has done it. */
export function answerOf<A extends JsonObject>(outcome: Outcome<A>): A | Refusal {
  if (outcome.status === 'committed') return outcome.answer;
  if (outcome.status === 'refused') return outcome.refusal;
  throw new Error(`this decision is left with a step that comes first: ${outcome.first.step}`);
}

/** A decision by name: another process with the same code can build the same decision from it. Plain JSON. */
export interface Command {
  readonly name: string;
  readonly args: readonly unknown[];
}

export type Commands = ReadonlyMap<string, (...args: never[]) => Decision<JsonObject>>;

/** Builds a decision that carries its own name and arguments. */
export interface CommandBuilder<A extends unknown[]> {
  (...args: A): Decision<JsonObject>;
  readonly command_name: string;
  readonly build: (...args: A) => Decision<JsonObject>;
}

/** Gives a decision a name, so that a neighbouring process can make it for this one (stores/sqlite/seat). */
export function command<A extends unknown[]>(
  command_name: string,
  build: (...args: A) => Decision<JsonObject>,
): CommandBuilder<A> {
  const named = (...args: A) => ({ ...build(...args), command: { name: command_name, args } });
  return Object.assign(named, { command_name, build });
}

/**
 * What one commit depends on and what it does. `decide` is pure and synchronous, so each store runs it where
 * that is cheapest: inside the writer's transaction, or optimistically, with everything it read expected
 * unchanged at commit. Every record loaded by key is expected unchanged; a range is not, so a decision over a
 * range names a guard entity by key.
 */
export interface Decision<A extends JsonObject> {
  /** Without one it can only be decided in the process that made it. */
  readonly command?: Command;
  readonly needs: Needs;
  decide(loaded: Loaded, now_ms: number): Verdict<A>;
}

/**
 * "The first record in index order that no other caller is changing." Stores that decide inside the writer
 * simply run the decision. A store with a quicker way (one SQL function) finds that by name, and the decision
 * is its oracle.
 */
export interface Taking<A extends JsonObject> {
  readonly name: string;
  readonly args: JsonObject;
  readonly decision: Decision<A>;
}

export function commit<A extends JsonObject>(
  events: readonly EventBody[],
  answer: A,
  not_after_ms?: number,
): Verdict<A> {
  return { verdict: 'commit', events, answer, not_after_ms };
}

export function refused(refusal: Refusal): Verdict<never> {
  return { verdict: 'refuse', refusal };
}

export function first(step: FirstStep): Verdict<never> {
  return { verdict: 'first', first: step };
}

export function need(needs: Needs): Verdict<never> {
  return { verdict: 'need', needs };
}

/** Everything whose key begins with the prefix. U+10FFFF is the last character in byte order. */
export function prefixed(by: Range['by'], kind: string, prefix: string, limit: number): Range {
  return { by, kind, from: prefix, before: `${prefix}\u{10FFFF}`, limit };
}
