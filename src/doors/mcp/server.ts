import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { version } from '../../kernel/version.ts';
import type { AnyOperation } from '../../operation.ts';
import { verdictOf } from '../answer.ts';
import { refuseDepth } from '../depth.ts';
import { nearest } from '../nearest.ts';

export interface OfferedTool {
  readonly operation: AnyOperation;
  readonly tool: Tool;
}

const INSTRUCTIONS =
  'Coxswain coordinates several agents on one codebase. Lock a file before you change it and release it afterwards; ' +
  'take work with get_work and end it with complete_work. An answer with success:false says why and what to do next.';

/** The declarations as tools. The list costs every agent context, so it says nothing twice. */
export async function offerTools(operations: readonly AnyOperation[]): Promise<OfferedTool[]> {
  return await Promise.all(
    operations.map(async (operation) => {
      const { $schema: _, ...schema } = tersely((await operation.input()).json) as JsonObject;
      const annotations = operation.mutates
        ? { readOnlyHint: false, destructiveHint: false, openWorldHint: false }
        : { readOnlyHint: true, openWorldHint: false };
      const inputSchema = schema as Tool['inputSchema'];
      return {
        operation,
        tool: { name: operation.name, description: operation.summary, inputSchema, annotations },
      };
    }),
  );
}

/** A format says what its pattern of three hundred characters spells out; validation is done here either way. */
function tersely(schema: Json): Json {
  if (schema === null || typeof schema !== 'object') return schema;
  if (Array.isArray(schema)) return schema.map(tersely);
  const entries = Object.entries(schema).filter(
    ([name, value]) => value !== undefined && !(name === 'pattern' && typeof schema.format === 'string'),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, tersely(value as Json)]));
}

export type Perform = (
  operation: AnyOperation,
  input: unknown,
  clientName: string | undefined,
  /** Aborted when the client cancels the call or goes away. */
  signal: AbortSignal,
) => Promise<JsonObject>;

/** The low-level server: our declarations already carry a JSON schema, and validation is the coordinator's. */
export function createMcpServer(offered: readonly OfferedTool[], perform: Perform): Server {
  const server = new Server(
    { name: 'coxswain', title: 'Coxswain', version: version() },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const byName = new Map(offered.map(({ operation }) => [operation.name, operation]));
  server.setRequestHandler('tools/list', () => ({ tools: offered.map(({ tool }) => tool) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const operation = byName.get(params.name);
    if (operation === undefined) throw unknownTool(params.name, [...byName.keys()]);
    const input = params.arguments ?? {};
    const { signal } = context.mcpReq;
    const answer =
      refuseDepth(input) ?? (await perform(operation, input, clientName(server, context), signal));
    return toResult(answer);
  });
  return server;
}

/**
 * "No" is a result like any other: the agent is to read it and go on. An error is what the agent did wrong or what
 * kept us from answering, so that clients which count or retry errors do so for those only.
 */
function toResult(answer: JsonObject) {
  const verdict = verdictOf(answer);
  const isError = verdict !== 'done' && verdict !== 'refused';
  // Parsed again it is plain data without undefined fields: what the schema of the protocol wants to see.
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

/** Since revision 2026-07-28 each request names its client; before, only the handshake did. */
function clientName(server: Server, context: ServerContext): string | undefined {
  const envelope = context.mcpReq.envelope as { [CLIENT_INFO_META_KEY]?: Implementation } | undefined;
  return envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name;
}
