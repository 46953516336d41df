import type { JsonObject } from '../../kernel/json.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { Connection } from '../../runtime/coordinator.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { operations } from '../../runtime/operation-list.ts';
import { type Field, fieldsOf } from '../shared/input-fields.ts';
import { secondsWaited } from '../shared/raw-input.ts';
import type { Principal } from './authenticate.ts';
import { bodyIn, readBytes } from './body.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './http-exchange.ts';
import { readQuery } from './query.ts';
import type { Route } from './routes.ts';

const IDENTITY = ['agent_id', 'agent_type', 'session_id'] as const;
const READING = ['GET', 'HEAD', 'POST'];

/** An operation with its schema, ready before the first request. */
export interface Prepared {
  readonly operation: AnyOperation;
  readonly schema: JsonObject;
  readonly fields: readonly Field[];
  /**
   * Identity fields that the operation itself has under the same name; then only headers identify the caller.
   */
  readonly own: ReadonlySet<string>;
}

export async function prepareOperations(): Promise<Prepared[]> {
  return await Promise.all(
    operations.map(async (operation) => {
      const schema = (await operation.input()).json;
      const fields = fieldsOf(schema);
      const own = new Set(IDENTITY.filter((name) => fields.some((field) => field.name === name)));
      return { operation, schema, fields, own };
    }),
  );
}

/** Its own path, and its aliases. */
export function operationRoutes(prepared: Prepared, connections: Connections): Route[] {
  const { operation } = prepared;
  return [operation.route, ...(operation.aliases ?? [])].map(({ method, path }) => ({
    path,
    // Operations that only read accept either method: a long list of paths does not fit in a query.
    methods: method === 'GET' || !operation.mutates ? READING : ['POST'],
    key: operation.open === true ? 'optional' : 'required',
    filters: prepared.own,
    handle: (exchange, principal) => operate(prepared, connections, exchange, principal),
  }));
}

async function operate(
  prepared: Prepared,
  connections: Connections,
  exchange: Exchange,
  principal: Principal | undefined,
): Promise<void> {
  const { operation, own } = prepared;
  const { request, headers } = exchange;
  const isPost = request.method === 'POST';
  if (isPost && !isJson(headers['content-type']))
    return await exchange.turnAway(415, 'unsupported_media_type', 'Send application/json.');
  const read = isPost
    ? bodyOf(exchange, await readBytes(request))
    : readQuery(exchange.query, [...prepared.fields, ...IDENTITY_FIELDS]);
  if (read === undefined) return;
  if (!read.ok) return exchange.send(422, read.refusal);
  const { input, identity } = splitIdentity(read.input, own);
  const connection = connections.find(identity, headers, principal, operation.mutates);
  if (!(connection instanceof Connection)) return exchange.answer(connection);
  const key = headers['idempotency-key'];
  // What the machine answers alone can be repeated as it is.
  const takesId = operation.mutates && operation.machine !== true;
  if (key !== undefined && takesId && input.operation_id === undefined) input.operation_id = key as string;
  const signal = untilGone(exchange, operation, input);
  exchange.answer(await connection.perform(operation, input, { signal }));
}

const IDENTITY_FIELDS: readonly Field[] = IDENTITY.map((name) => ({
  name,
  kind: 'text',
  required: false,
  description: '',
}));

type Read = { ok: true; input: JsonObject } | { ok: false; refusal: Refusal };

/** Undefined if the request is already answered, or the client has gone. */
function bodyOf(exchange: Exchange, bytes: Buffer | 'too_large' | 'gone'): Read | undefined {
  const body = bodyIn(bytes);
  switch (body.kind) {
    case 'gone':
      return undefined;
    case 'too_large':
      exchange.tooLarge();
      return undefined;
    case 'malformed':
      return { ok: false, refusal: body.refusal };
    case 'object':
      return { ok: true, input: body.value };
  }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** Separates the operation's input from the identity's fields. */
function splitIdentity(
  body: JsonObject,
  own: ReadonlySet<string>,
): { input: JsonObject; identity: JsonObject } {
  // Most callers identify themselves in their headers.
  if (!IDENTITY.some((field) => body[field] !== undefined)) return { input: body, identity: {} };
  if (own.size === 0) {
    const { agent_id, agent_type, session_id, ...input } = body;
    return { input, identity: { agent_id, agent_type, session_id } };
  }
  const input = { ...body };
  const identity: JsonObject = {};
  for (const field of IDENTITY) {
    if (own.has(field)) continue;
    identity[field] = input[field];
    delete input[field];
  }
  return { input, identity };
}

/** Only a call that waits needs to know that its client has gone, or that its key is no longer valid. */
function untilGone(
  { request, response, surroundings }: Exchange,
  operation: AnyOperation,
  input: JsonObject,
): AbortSignal | undefined {
  if (secondsWaited(operation, input) === 0) return undefined;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  surroundings.vigil.watch(request, response);
  return AbortSignal.any([gone.signal, surroundings.stopping]);
}
