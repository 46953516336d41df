import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import type { AnyOperation, InputSchema, Step } from '../../src/runtime/operation.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import type { Principal } from '../../src/transports/mcp/mcp-callers.ts';
import { createMcpEndpoint } from '../../src/transports/mcp/mcp-http.ts';
import { type Catalogue, catalogueOf } from '../../src/transports/mcp/mcp-server.ts';
import type { OfferedPrompt } from '../../src/transports/mcp/prompts.ts';
import type { OfferedResource } from '../../src/transports/mcp/resources.ts';

const NOTHING: InputSchema<object> = {
  json: { type: 'object', properties: {} },
  parse: () => ({ ok: true, value: {} }),
};

/** A declaration like the product's own, under a name that the conformance runner calls. */
function declare(name: string, handle: (step: Step) => JsonObject, waits?: string): AnyOperation {
  return {
    name,
    group: 'test',
    verb: name,
    summary: 'For the conformance runner.',
    route: { method: 'POST', path: `/test/${name}` },
    mutates: false,
    standard: true,
    examples: [],
    ...(waits === undefined ? {} : { waits }),
    input: async () => NOTHING,
    handle: async (_input, step) => handle(step),
  };
}

const tools = [
  declare('test_simple_text', () => ({ success: true, text: 'This is a simple text response for testing.' })),
  declare('test_error_handling', () => refuse('invalid_input', 'This tool intentionally fails.')),
  declare('test_logging_tool', () => ({ success: true })),
  declare(
    'test_tool_with_progress',
    (step) => {
      for (const message of ['first', 'second', 'third']) step.waiting({ message });
      return { success: true };
    },
    'wait_seconds',
  ),
];

function resource(uri: string): OfferedResource {
  const about = { uri, name: uri, title: uri, description: 'For the conformance runner.' };
  const operation = declare('read', () => ({ success: true, text: 'static' }));
  return {
    operation,
    input: {},
    resource: { ...about, mimeType: 'application/json' },
    changedBy: () => false,
  };
}

function prompt(name: string, given: readonly string[]): OfferedPrompt {
  const named = given.map((argument) => ({ name: argument, description: argument, required: true }));
  return {
    prompt: { name, title: name, description: 'For the conformance runner.', arguments: named },
    write: (values) => `A prompt for testing: ${JSON.stringify(values)}`,
  };
}

/** All of the product, and beside it what the runner looks for by name. */
function catalogue(): Catalogue {
  const own = catalogueOf([...operations, ...tools]);
  return {
    ...own,
    resources: [...own.resources, resource('test://static-text'), resource('test://watched-resource')],
    prompts: [
      ...own.prompts,
      prompt('test_simple_prompt', []),
      prompt('test_prompt_with_arguments', ['arg1', 'arg2']),
    ],
  };
}

/** As the HTTP door does it before it hands a request on. */
function isForeign({ headers }: IncomingMessage): boolean {
  const local = /^(localhost|127\.0\.0\.1)(:\d+)?$/;
  const { host = '', origin } = headers;
  return !local.test(host) || (origin !== undefined && !local.test(origin.replace(/^https?:\/\//, '')));
}

function principalOf({ headers }: IncomingMessage): Principal {
  const agent_id = headers['x-agent-id'];
  return {
    actor: typeof agent_id === 'string' ? { agent_id } : {},
    authority: 'agent',
    credential: 'checks',
  };
}

export interface Fixture extends AsyncDisposable {
  readonly url: string;
}

/** Our MCP door over HTTP, with what the conformance runner needs to find in it. */
export async function startFixture(folder: string): Promise<Fixture> {
  const coxswain = await open({ store: 'memory:', cwd: folder });
  const endpoint = createMcpEndpoint({ coxswain, catalogue: catalogue() });
  const server = createServer((request, response) => {
    if (isForeign(request)) response.writeHead(403).end();
    else void endpoint.handle(request, response, principalOf(request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      await endpoint.stop();
      server.close();
      server.closeAllConnections();
      await coxswain.close();
    },
  };
}
