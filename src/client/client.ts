import type { JsonObject } from '../kernel/json.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Actor } from '../ledger/log.ts';
import type { declarations } from '../runtime/operation-list.ts';
import type { Answers } from './answers.ts';
import { methodName } from './method-names.ts';

type Declarations = typeof declarations;

/** What may be given to an operation. A declaration that does not tell says at least the names of its fields. */
type InputOf<O> = O extends { input(): Promise<{ readonly given?: infer G }> }
  ? unknown extends G
    ? O extends { handle(input: infer I, ...rest: never): unknown }
      ? Partial<I>
      : JsonObject
    : NonNullable<G>
  : JsonObject;

type Answer<M> = (M extends keyof Answers ? Answers[M] : { success: true } & JsonObject) | Refusal;

/** The input may be left out when nothing in it is needed. */
type Method<I, A> =
  Record<never, never> extends I
    ? (input?: I, options?: CallOptions) => Promise<A>
    : (input: I, options?: CallOptions) => Promise<A>;

/** One method for every declared operation. */
export type Methods = {
  readonly [M in keyof Declarations]: Method<InputOf<Declarations[M]>, Answer<M>>;
};

export interface CallOptions {
  /** Gives the call up: whoever waits in line leaves it. */
  readonly signal?: AbortSignal | undefined;
  /** Told when the call has to wait, and why. A remote server does not tell. */
  readonly onWaiting?: ((why: JsonObject) => void) | undefined;
  /** Names the call: whoever repeats it under the same name gets the first answer, and nothing is done twice. */
  readonly operation_id?: string | undefined;
}

/** One agent's way in, from a program. Whatever goes wrong with a call is an answer; nothing but a mistake throws. */
export interface Client extends Methods, AsyncDisposable {
  /** As far as it is known on this side: a remote server may know more about whoever has the key. */
  readonly actor: Partial<Actor>;
  /** Any operation by its wire name. */
  call(operation: string, input?: JsonObject, options?: CallOptions): Promise<JsonObject>;
  close(): Promise<void>;
}

/** What a client stands on: the store itself, or a server. */
export type Transport = Pick<Client, 'actor' | 'call' | 'close'>;

export function createClient(names: Iterable<string>, transport: Transport): Client {
  const { actor, call, close } = transport;
  const methods: Record<string, (input?: JsonObject, options?: CallOptions) => Promise<JsonObject>> = {};
  for (const name of names) methods[methodName(name)] = (input, options) => call(name, input, options);
  // The loop and the mapped type go over the same declarations; a test holds them against each other.
  return { ...methods, actor, call, close, [Symbol.asyncDispose]: close } as unknown as Client;
}
