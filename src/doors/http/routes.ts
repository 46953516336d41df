import type { JsonObject } from '../../kernel/json.ts';
import type { AnyOperation } from '../../operation.ts';
import { operations } from '../../operations/index.ts';

export interface Route {
  readonly operation: AnyOperation;
  readonly schema: JsonObject;
  /** Fields of the identity that the operation itself has under the same name; then only headers say who asks. */
  readonly own: ReadonlySet<string>;
}

const IDENTITY = ['agent_id', 'agent_type', 'session_id'] as const;

/** Every declaration's route with its schema, ready before the first request. */
export async function loadRoutes(): Promise<Map<string, Route>> {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const schema = (await operation.input()).json;
    const properties = (schema.properties ?? {}) as JsonObject;
    const own = new Set(IDENTITY.filter((field) => Object.hasOwn(properties, field)));
    routes.set(operation.route.path, { operation, schema, own });
  }
  return routes;
}

export function describeRoutes(routes: ReadonlyMap<string, Route>): JsonObject {
  return {
    success: true,
    operations: [...routes.values()].map(({ operation, schema }) => ({
      name: operation.name,
      summary: operation.summary,
      method: operation.route.method,
      path: operation.route.path,
      command: `cox ${operation.group} ${operation.verb}`,
      mutates: operation.mutates,
      input: schema,
    })),
  };
}

/** The operation's input and the identity's fields apart. */
export function splitBody(
  body: JsonObject,
  own: ReadonlySet<string>,
): { input: JsonObject; identity: JsonObject } {
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
