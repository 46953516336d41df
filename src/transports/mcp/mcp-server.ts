import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { systemClock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { lazily } from '../../kernel/lazily.ts';
import { nearest } from '../../kernel/nearest.ts';
import { refuse } from '../../kernel/refusal.ts';
import { version } from '../../kernel/version.ts';
import { verdictOf } from '../../runtime/answer.ts';
import type { CallOptions } from '../../runtime/coordinator-context.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { refuseDepth, secondsWaited } from '../shared/raw-input.ts';
import { getPrompt, type OfferedPrompt, prompts } from './prompts.ts';
import { type OfferedResource, offerResources, toContents } from './resources.ts';
import { type OfferedTool, offerTools } from './tools.ts';
import type { Listening, Updates } from './updates.ts';

const INSTRUCTIONS =
  'Coxswain coordinates several agents on one codebase. Lock a file before you change it and release it afterwards; ' +
  'take work with get_work and end it with complete_work. An answer with success:false says why and what to do next. ' +
  'Every tool that changes something also takes operation_id, any unique text: a call repeated with the same one returns the first answer instead of doing it twice.';

/** Read once: over HTTP a server is created for every request. */
const ABOUT = { name: 'coxswain', title: 'Coxswain', version: version() };

/** What a server shows. The same for all clients that want the same tools. */
export interface Catalogue {
  readonly tools: readonly AnyOperation[];
  /**
   * As clients see them. Loading the schemas takes longer than everything else in a server, and the first
   * answer needs none.
   */
  listed(): Promise<readonly OfferedTool[]>;
  readonly resources: readonly OfferedResource[];
  readonly prompts: readonly OfferedPrompt[];
}

export function catalogueOf(tools: readonly AnyOperation[]): Catalogue {
  return { tools, listed: lazily(() => offerTools(tools)), resources: offerResources(), prompts };
}

/** The one client at the other end. */
export interface Peer {
  readonly perform: Perform;
  readonly updates: Updates;
}

/** The low-level server: our declarations already carry a JSON schema, and the coordinator validates. */
export function createMcpServer(catalogue: Catalogue, peer: Peer): Server {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {} };
  const server = new Server(ABOUT, { capabilities, instructions: INSTRUCTIONS });
  serveTools(server, catalogue, peer);
  serveResources(server, catalogue, peer);
  serveSubscriptions(server, catalogue, peer.updates);
  server.setRequestHandler('prompts/list', () => ({
    prompts: catalogue.prompts.map(({ prompt }) => prompt),
  }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    getPrompt(catalogue.prompts, params.name, params.arguments ?? {}),
  );
  return server;
}

function serveTools(server: Server, { tools, listed }: Catalogue, { perform }: Peer): void {
  const byName = new Map(tools.map((operation) => [operation.name, operation]));
  server.setRequestHandler('tools/list', async () => ({ tools: (await listed()).map(({ tool }) => tool) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const operation = byName.get(params.name);
    if (operation === undefined) throw unknownTool(params.name, [...byName.keys()]);
    const input = params.arguments ?? {};
    return await callTool(operation, input, context, (options) =>
      perform(operation, input, clientName(server, context), options),
    );
  });
}

/** Reading a resource performs the operation itself: checked, authorised and audited like any other call. */
function serveResources(server: Server, { resources }: Catalogue, { perform }: Peer): void {
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ resource }) => resource),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    const found = findResource(resources, params.uri);
    const options = { signal: context.mcpReq.signal };
    const answer = await perform(found.operation, found.input, clientName(server, context), options);
    return toContents(params.uri, answer);
  });
}

/**
 * For revisions before 2026-07-28. Since then a client opens a stream for what it subscribes to, and the SDK
 * handles that.
 */
function serveSubscriptions(server: Server, { resources }: Catalogue, updates: Updates): void {
  const subscribed = new Set<string>();
  let listening: Listening | undefined;
  const leave = (uri: string) => {
    subscribed.delete(uri);
    if (subscribed.size > 0) return;
    listening?.end();
    listening = undefined;
  };
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    findResource(resources, uri);
    subscribed.add(uri);
    listening ??= updates.listen((changed) => {
      // A client that can't be notified is about to disconnect; its server closes then.
      if (subscribed.has(changed)) server.sendResourceUpdated({ uri: changed }).catch(() => {});
    });
    await listening.ready;
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    leave(uri);
    return {};
  });
  server.onclose = () => {
    for (const uri of [...subscribed]) leave(uri);
  };
}

function findResource(resources: readonly OfferedResource[], uri: string): OfferedResource {
  const found = resources.find(({ resource }) => resource.uri === uri);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  return found;
}

/** Since revision 2026-07-28 each request names its client; before, only the handshake did. */
function clientName(server: Server, context: ServerContext): string | undefined {
  const envelope = context.mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: Implementation } | undefined;
  return envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
}

/**
 * A client that hears nothing for a minute gives a call up as dead; one that gets progress goes on waiting.
 */
const PROGRESS_EVERY_MS = 10_000;

export type Perform = (
  operation: AnyOperation,
  input: unknown,
  clientName: string | undefined,
  options: CallOptions,
) => Promise<JsonObject>;

/** One tool call: refused, performed, waited for, and its answer in the protocol's form. */
async function callTool(
  operation: AnyOperation,
  input: Record<string, unknown>,
  context: ServerContext,
  perform: (options: CallOptions) => Promise<JsonObject>,
) {
  const tooDeep = refuseDepth(input);
  if (tooDeep !== undefined) return toResult(tooDeep);
  const waited = secondsWaited(operation, input);
  const progress = operation.waits === undefined ? undefined : reportWaiting(context, waited);
  try {
    const signal = waited > 0 ? goneSignal(context) : context.mcpReq.signal;
    return toResult(await perform({ signal, onWaiting: progress?.tell }));
  } finally {
    progress?.end();
  }
}

/**
 * Cancelled, or disconnected: over HTTP an answer can't be fetched later, so no client would ever read it.
 */
function goneSignal({ mcpReq, http }: ServerContext): AbortSignal {
  const hungUp = http?.req?.signal;
  return hungUp === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, hungUp]);
}

/** A waiting call also gives up when the whole server closes. */
export function untilEither(
  operation: AnyOperation,
  input: unknown,
  options: CallOptions,
  { signal: closing }: AbortController,
): CallOptions {
  if (secondsWaited(operation, input) === 0) return options;
  const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]);
  return { ...options, signal };
}

/** For a client that asked for progress: what it waits for, when that changes and from time to time. */
function reportWaiting({ mcpReq }: ServerContext, total: number) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const started_ms = systemClock.elapsed_ms();
  let message = '';
  let progress = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    // It must grow with every notification, even within the same millisecond.
    progress = Math.max(progress + 0.001, Math.round(systemClock.elapsed_ms() - started_ms) / 1000);
    const params = { progressToken, progress, total: Math.max(total, progress), message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  return {
    tell: (why: JsonObject) => {
      message = typeof why.message === 'string' ? why.message : 'waiting';
      timer ??= setInterval(report, PROGRESS_EVERY_MS);
      report();
    },
    end: () => clearInterval(timer),
  };
}

/**
 * "No" is a result like any other: the agent is to read it and go on. An error is what the agent did wrong,
 * or what kept us from answering. So clients that count or retry errors do so only for those.
 */
function toResult(answer: JsonObject) {
  const verdict = verdictOf(answer);
  const isError = verdict !== 'done' && verdict !== 'refused';
  // Parsed again, it is plain data without undefined fields, as the protocol's schema requires.
  const text = JSON.stringify(answer);
  return {
    content: [{ type: 'text' as const, text }],
    structuredContent: JSON.parse(text) as Record<string, unknown>,
    ...(isError ? { isError } : {}),
  };
}

function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const [near] = nearest(name, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const refusal = refuse(
    'unknown_operation',
    `There is no tool ${JSON.stringify(name.slice(0, 100))} here.${hint}`,
  );
  return new ProtocolError(ProtocolErrorCode.InvalidParams, refusal.message, refusal);
}
