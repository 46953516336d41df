import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { lazily } from '../../kernel/lazily.ts';
import { version } from '../../kernel/version.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { callTool, type Perform, unknownTool } from './call-tool.ts';
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
