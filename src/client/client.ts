import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Actor } from '../ledger/log.ts';
import type { declarations } from '../runtime/operation-list.ts';
import type { Answers } from './answers.ts';
import { methodName } from './method-names.ts';

type Declarations = typeof declarations;

/**
 * The input type of an operation. If a declaration has no such type, at least the names of its fields are
 * known.
 */
type InputOf<O> = O extends { input(): Promise<{ readonly given?: infer G }> }
  ? unknown extends G
    ? O extends { handle(input: infer I, ...rest: never): unknown }
      ? Partial<I>
      : JsonObject
    : NonNullable<G>
  : JsonObject;

type Answer<M> = (M extends keyof Answers ? Answers[M] : { success: true } & JsonObject) | Refusal;

/** The input may be omitted when it has no required field. */
type Method<I, A> =
  Record<never, never> extends I
    ? (input?: I, options?: CallOptions) => Promise<A>
    : (input: I, options?: CallOptions) => Promise<A>;

/** One method for every declared operation. */
export type Methods = {
  readonly [M in keyof Declarations]: Method<InputOf<Declarations[M]>, Answer<M>>;
};

export interface CallOptions {
  /** Cancels the call: a waiting caller leaves the line. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the call has to wait, with the reason. A remote server does not report this. */
  readonly onWaiting?: ((why: JsonObject) => void) | undefined;
  /**
   * The id of the call: a repeated call with the same id gets the first answer, and nothing is done twice.
   */
  readonly operation_id?: string | undefined;
}

/**
 * One agent's access from a program. Every failure of a call is an answer; only a programming mistake throws.
 */
export interface Client extends Methods, AsyncDisposable {
  /** As far as it is known on this side: a remote server may know more about the owner of the key. */
  readonly actor: Partial<Actor>;
  /** Any operation by its wire name. */
  call(operation: string, input?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  close(): Promise<void>;
}

/** What a client is built on: the store itself, or a server. */
export type Transport = Pick<Client, 'actor' | 'call' | 'close'>;

export function createClient(names: Iterable<string>, transport: Transport): Client {
  const { actor, call, close } = transport;
  const methods: Record<string, (input?: JsonObject, options?: CallOptions) => Promise<JsonObject>> = {};
  for (const name of names) methods[methodName(name)] = (input, options) => call(name, input, options);
  // The loop and the mapped type cover the same declarations; a test compares the two.
  return { ...methods, actor, call, close, [Symbol.asyncDispose]: close } as unknown as Client;
}
