import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { z } from 'zod';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { inputSchema } from '../../src/runtime/input-schema.ts';
import type { AnyOperation } from '../../src/runtime/operation.ts';
import { Authenticator } from '../../src/transports/http/authenticate.ts';
import { Connections } from '../../src/transports/http/connections.ts';
import { Exchange } from '../../src/transports/http/http-exchange.ts';
import { Metrics } from '../../src/transports/http/metrics-route.ts';
import { operationRoutes } from '../../src/transports/http/operate.ts';
import { readQuery } from '../../src/transports/http/query.ts';
import { Vigil } from '../../src/transports/http/vigil.ts';
import { fieldsOf } from '../../src/transports/shared/input-fields.ts';

const schema = inputSchema(
  z.strictObject({
    agent_id: z.string().optional(),
    limit: z.int().max(100).default(20),
    all: z.boolean().default(false),
    kinds: z.array(z.string()).optional(),
    filter: z.unknown().optional(),
  }),
);
const fields = fieldsOf(schema.json);

test('[HTTP-5] a query has the types of the schema; what it does not have is refused by its name', () => {
  const read = (query: string) => {
    const result = readQuery(query, fields);
    if (!result.ok) return result.refusal.field;
    const parsed = schema.parse(result.input);
    return parsed.ok ? parsed.value : parsed.refusal.field;
  };
  assert.deepEqual(read(''), { limit: 20, all: false });
  assert.deepEqual(read('agent_id=a%20b&limit=5&all=1&kinds=lock,task&kinds=x&filter=%7B%22a%22:1%7D'), {
    agent_id: 'a b',
    limit: 5,
    all: true,
    kinds: ['lock', 'task', 'x'],
    filter: { a: 1 },
  });
  const refused: [query: string, field: string][] = [
    ['limit=five', 'limit'],
    ['limit=', 'limit'],
    ['limit=1000', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['all=maybe', 'all'],
    ['filter={', 'filter'],
    ['nonsense=1', 'nonsense'],
    ['__proto__=1', '__proto__'],
    ['constructor=1&constructor=2', 'constructor'],
    ['a%1b=1&a%1b=2', 'a?'],
  ];
  for (const [query, field] of refused) assert.equal(read(query), field, query);
});

test('[HTTP-1] an operation that reads is asked with GET and a query, HEAD, or POST and a body', async () => {
  const coxswain = await open({ store: 'memory:' });
  const heard: JsonObject[] = [];
  const operation: AnyOperation = {
    name: 'query_things',
    group: 'thing',
    verb: 'list',
    summary: '',
    route: { method: 'GET', path: '/things' },
    mutates: false,
    standard: false,
    open: true,
    examples: [],
    input: async () => schema,
    async handle(input: JsonObject, step) {
      heard.push({ ...input, caller: step.caller.agent_id, authority: step.authority });
      return { success: true };
    },
  };
  const own = new Set(['agent_id']);
  const [route] = operationRoutes({ operation, schema: schema.json, fields, own }, new Connections(coxswain));
  assert.ok(route);
  assert.deepEqual([route.methods, route.key], [['GET', 'HEAD', 'POST'], 'optional']);
  const stopping = new AbortController().signal;
  const vigil = new Vigil(new Authenticator(coxswain, { environment: [] }));
  const surroundings = { clock: systemClock, metrics: new Metrics(), stopping, vigil };
  const server = createServer((request, response) => {
    void route.handle(new Exchange(request, response, surroundings), undefined);
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/things`;
    assert.equal((await fetch(`${url}?agent_id=bob&limit=3`)).status, 200);
    assert.equal((await fetch(url, { method: 'HEAD', headers: { 'x-agent-id': 'carl' } })).status, 200);
    const json = { 'content-type': 'application/json' };
    assert.equal((await fetch(url, { method: 'POST', headers: json, body: '{"all":true}' })).status, 200);
    assert.equal((await fetch(`${url}?limit=x`)).status, 422);
    assert.deepEqual(heard, [
      { agent_id: 'bob', limit: 3, all: false, caller: 'anonymous', authority: 'agent' },
      { limit: 20, all: false, caller: 'anonymous', authority: 'agent' },
      { limit: 20, all: true, caller: 'anonymous', authority: 'agent' },
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
    await coxswain.close();
  }
});
