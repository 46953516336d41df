import type { Tool } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { AnyOperation } from '../../runtime/operation.ts';

export interface OfferedTool {
  readonly operation: AnyOperation;
  readonly tool: Tool;
}

/**
 * The declarations as tools. The list costs every agent context, so it says nothing twice and nothing
 * obvious.
 */
export async function offerTools(operations: readonly AnyOperation[]): Promise<OfferedTool[]> {
  return await Promise.all(
    operations.map(async (operation) => {
      const inputSchema = tersely((await operation.input()).json) as Tool['inputSchema'];
      return { operation, tool: { ...about(operation), inputSchema, annotations: hints(operation) } };
    }),
  );
}

/** Without a title: it could only repeat the name. */
function about({ name, summary }: AnyOperation) {
  return { name, description: summary };
}

/**
 * Only what differs from the protocol's defaults: not read-only, destructive, not idempotent, open to the
 * world.
 */
function hints({ mutates, destructive, repeatable }: AnyOperation): NonNullable<Tool['annotations']> {
  const closed = { openWorldHint: false };
  if (!mutates) return { readOnlyHint: true, ...closed };
  const again = repeatable === true ? { idempotentHint: true } : {};
  return { destructiveHint: destructive === true, ...again, ...closed };
}

/**
 * Bounds and patterns that a sensible value meets anyway. They are checked here, and a refusal names the
 * field and what would be accepted. Numbers keep theirs, because a range shows the unit.
 */
const UNSAID = new Set([
  '$schema',
  'additionalProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
]);

/**
 * Accepted by every tool that changes something, and listed by none: the server's instructions explain it
 * once.
 */
const UNLISTED = 'operation_id';

function tersely(schema: JsonObject): JsonObject {
  const terse: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || UNSAID.has(name) || isBoundless(name, value)) continue;
    terse[name] = name === 'properties' ? fields(value as JsonObject) : inner(value as Json);
  }
  const items = terse.items as JsonObject | undefined;
  if (terse.description !== undefined && items !== undefined && !('properties' in items)) {
    const { description: _, ...rest } = items;
    terse.items = rest;
  }
  return terse;
}

function fields(properties: JsonObject): JsonObject {
  const listed = Object.entries(properties).filter(([field]) => field !== UNLISTED);
  return Object.fromEntries(listed.map(([field, schema]) => [field, inner(schema as Json)]));
}

function inner(value: Json): Json {
  if (Array.isArray(value)) return value.map(inner);
  return value !== null && typeof value === 'object' ? tersely(value) : value;
}

function isBoundless(name: string, value: unknown): boolean {
  if (name === 'default') return Array.isArray(value) && value.length === 0;
  return (
    (name === 'maximum' && value === Number.MAX_SAFE_INTEGER) || (name === 'exclusiveMinimum' && value === 0)
  );
}
