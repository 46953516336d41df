import type { Json, JsonObject } from '../../kernel/json.ts';
import { version } from '../../kernel/version.ts';
import type { AnyOperation, Route } from '../../runtime/operation.ts';

/** What an operation looks like from outside. */
export interface Described {
  readonly operation: AnyOperation;
  readonly schema: JsonObject;
}

const json = (schema: JsonObject, example?: Json): JsonObject => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

const ref = (kind: string, name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` });

const REFUSALS: Readonly<Record<string, [name: string, description: string]>> = {
  '401': ['Unauthorized', 'No key, or one that opens nothing.'],
  '403': ['Forbidden', 'The key is bound to another agent, or this is not for agents.'],
  '413': ['TooLarge', 'The body is larger than a megabyte.'],
  '415': ['UnsupportedMediaType', 'The body is not application/json.'],
  '422': ['InvalidInput', 'The named field is wrong; the message says what would do. Nothing was changed.'],
  '429': ['RateLimited', 'Too many requests with this key, or too many wrong keys. See Retry-After.'],
  '500': ['Fault', 'A fault of Coxswain.'],
  '503': ['Unavailable', 'The store can’t be reached, or is not fit for use. Try again in a few seconds.'],
};

const BODY_ONLY = new Set(['413', '415']);

function responses(has: { body: boolean; key: boolean }): JsonObject {
  const shown: JsonObject = {
    '200': {
      description:
        'Done; or a refusal as a value, with `success: false`, a stable code, and what to do next.',
      content: json(ref('schemas', 'Answer')),
    },
  };
  for (const [status, [name]] of Object.entries(REFUSALS)) {
    if (BODY_ONLY.has(status) && !has.body) continue;
    if ((status === '401' || status === '403') && !has.key) continue;
    shown[status] = ref('responses', name);
  }
  return shown;
}

/** The OpenAPI 3.1 document, made from the declarations alone. */
export function describeApi(described: readonly Described[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { operation, schema } of described) {
    for (const route of [operation.route, ...(operation.aliases ?? [])])
      paths[route.path] = {
        ...paths[route.path],
        [route.method.toLowerCase()]: describeOperation(operation, route, schema),
      };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Coxswain',
      version: version(),
      description:
        'Coordinates AI coding agents on one codebase. Every request but the open ones carries an API key; a key bound ' +
        'to an agent acts as that agent, a service names one in `agent_id` or X-Agent-Id. A refusal such as a held ' +
        'lock is an answer: status 200 with `success: false`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(described.map(({ operation }) => operation.group))].map((name) => ({ name })),
    security: [{ ApiKey: [] }, { Bearer: [] }],
    paths: { ...paths, ...LOOKS },
    components: {
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        Bearer: { type: 'http', scheme: 'bearer' },
      },
      parameters: PARAMETERS,
      schemas: SCHEMAS,
      responses: Object.fromEntries(
        Object.values(REFUSALS).map(([name, description]) => [
          name,
          { description, content: json(ref('schemas', 'Refusal')) },
        ]),
      ),
    },
  };
}

function describeOperation(operation: AnyOperation, route: Route, schema: JsonObject): JsonObject {
  const { name, summary, group, mutates, open, examples } = operation;
  const { $schema: _, ...input } = schema;
  const sample = sampleOf(operation, schema);
  const shared: JsonObject = {
    // An id is unique; an alias is the same operation at another path.
    operationId: route === operation.route ? name : `${name}${route.path.replaceAll(/\W/g, '_')}`,
    summary,
    description: `On the command line:\n\n${examples.map((example) => `    ${example}`).join('\n')}`,
    tags: [group],
    ...(open === true ? { security: [] } : {}),
  };
  if (route.method === 'GET')
    return {
      ...shared,
      parameters: [...queryParameters(input, sample), ...IDENTITY],
      responses: responses({ body: false, key: open !== true }),
    };
  return {
    ...shared,
    parameters: mutates ? [...IDENTITY, ref('parameters', 'IdempotencyKey')] : IDENTITY,
    requestBody: { required: true, content: json(withIdentity(input), sample) },
    responses: responses({ body: true, key: open !== true }),
  };
}

/** The identity may be in the body, beside the operation's own fields. */
function withIdentity(input: JsonObject): JsonObject {
  const properties = (input.properties ?? {}) as JsonObject;
  return { ...input, properties: { ...IDENTITY_FIELDS, ...properties } };
}

function queryParameters(input: JsonObject, sample: JsonObject): JsonObject[] {
  const required = new Set(input.required as string[] | undefined);
  return Object.entries((input.properties ?? {}) as Record<string, JsonObject>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema,
    ...(sample[name] === undefined ? {} : { example: sample[name] }),
    ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
  }));
}

/** The declaration's own example; without one, whatever the schema requires. */
export function sampleOf({ sample }: AnyOperation, schema: JsonObject): JsonObject {
  if (sample !== undefined) return sample;
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  const required = (schema.required ?? []) as string[];
  return Object.fromEntries(required.map((name) => [name, sampleValue(properties[name] ?? {})]));
}

function sampleValue(schema: JsonObject): Json {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  switch (schema.type) {
    case 'string':
      return schema.format === 'uuid' ? '0192a000-0000-7000-8000-000000000001' : 'example';
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema.minimum ?? 1));
    case 'boolean':
      return true;
    case 'array':
      return [sampleValue((schema.items ?? {}) as JsonObject)];
    default:
      return {};
  }
}

const text = (description: string): JsonObject => ({
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description,
});

const IDENTITY_FIELDS: JsonObject = {
  agent_id: text('Who asks; not needed with a key that is bound to an agent.'),
  agent_type: text('What kind of agent.'),
  session_id: text('Which of its sessions; default: one for each agent.'),
};

const header = (name: string, schema: Json | undefined): JsonObject => ({
  name,
  in: 'header',
  required: false,
  schema: schema ?? {},
});

const PARAMETERS: JsonObject = {
  AgentId: header('X-Agent-Id', IDENTITY_FIELDS.agent_id),
  AgentType: header('X-Agent-Type', IDENTITY_FIELDS.agent_type),
  SessionId: header('X-Session-Id', IDENTITY_FIELDS.session_id),
  IdempotencyKey: header(
    'Idempotency-Key',
    text('The same as operation_id: repeating it repeats the answer.'),
  ),
};

const IDENTITY = ['AgentId', 'AgentType', 'SessionId'].map((name) => ref('parameters', name));

const SCHEMAS: JsonObject = {
  Answer: {
    type: 'object',
    required: ['success'],
    properties: { success: { type: 'boolean' }, message: { type: 'string' }, remedy: { type: 'string' } },
    additionalProperties: true,
  },
  Refusal: {
    type: 'object',
    required: ['success', 'message'],
    properties: {
      success: { const: false },
      error: { type: 'string', description: 'A stable code.' },
      field: { type: 'string', description: 'Which field is wrong.' },
      expected: { type: 'string', description: 'What would do.' },
      message: { type: 'string' },
      remedy: { type: 'string', description: 'What to do next.' },
      retry_after_seconds: { type: 'integer' },
    },
    additionalProperties: true,
  },
};

const look = (operationId: string, summary: string, more: JsonObject): JsonObject => ({
  get: { operationId, summary, tags: ['look'], ...more },
});

const answered = (
  description: string,
  statuses: readonly string[],
  type = 'application/json',
): JsonObject => ({
  '200': {
    description,
    content: { [type]: { schema: type === 'application/json' ? { type: 'object' } : {} } },
  },
  ...Object.fromEntries(
    statuses.map((status) => [status, ref('responses', REFUSALS[status]?.[0] ?? 'Fault')]),
  ),
});

/** Routes that are not operations. */
const LOOKS: JsonObject = {
  '/mcp': {
    post: {
      operationId: 'mcp',
      summary:
        'MCP over streamable HTTP, for agents that speak it; also GET and DELETE, as its specification says.',
      tags: ['look'],
      requestBody: { required: true, content: json({ type: 'object' }) },
      responses: answered('A JSON-RPC message, or a stream of them.', ['401', '403', '413', '429']),
    },
  },
  '/webhook/github': {
    post: {
      operationId: 'github_webhook',
      summary: 'What GitHub delivers, signed: push and workflow_run.',
      tags: ['look'],
      security: [],
      requestBody: { required: true, content: json({ type: 'object' }) },
      responses: answered('Taken, or ignored and why.', ['401', '413', '422', '503']),
    },
  },
  '/health': look('health', 'Whether the process is up.', {
    security: [],
    responses: answered('It is: {"status":"ok","version":"…"}.', []),
  }),
  '/ready': look('ready', 'Whether the store answers.', {
    responses: answered('It does.', ['401', '429', '503']),
  }),
  '/locks/status/{path}': look('lock_status', 'Whether a file is locked, by whom and why.', {
    security: [],
    parameters: [
      { name: 'path', in: 'path', required: true, schema: { type: 'string' }, example: 'src/app.ts' },
    ],
    responses: answered('Its state.', ['422', '503']),
  }),
  '/metrics': look('metrics', 'Numbers for Prometheus.', {
    responses: answered('The text exposition format.', ['401', '429'], 'text/plain'),
  }),
  '/events': look('events', 'The log as it grows, as server-sent events.', {
    parameters: [
      {
        name: 'kinds',
        in: 'query',
        required: false,
        schema: { type: 'string' },
        description: 'Such as lock,task.',
      },
      {
        name: 'types',
        in: 'query',
        required: false,
        schema: { type: 'string' },
        description: 'Such as lock_acquired.',
      },
      {
        name: 'after',
        in: 'query',
        required: false,
        schema: { type: 'integer' },
        description: 'From this position.',
      },
      header('Last-Event-ID', { type: 'string' }),
    ],
    responses: answered(
      'One event for each commit, its position as the id.',
      ['401', '422', '429', '503'],
      'text/event-stream',
    ),
  }),
};
