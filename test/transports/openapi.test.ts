import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { routeTable } from '../../scripts/route-table.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { operations, operationsByName } from '../../src/runtime/operation-list.ts';
import { sampleOf } from '../../src/transports/http/openapi.ts';
import { ALICE, startApi, withKey } from './api.ts';

type Described = JsonObject & { operationId: string; responses: Record<string, JsonObject> };

function visit(value: Json | undefined, each: (object: JsonObject, path: string) => void, path = '#'): void {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) each(value, path);
  for (const [name, inner] of Object.entries(value)) visit(inner, each, `${path}/${name}`);
}

function at(document: JsonObject, ref: string): Json | undefined {
  let value: Json | undefined = document;
  for (const name of ref.replace('#/', '').split('/')) value = (value as JsonObject | undefined)?.[name];
  return value;
}

function described(document: JsonObject): [path: string, method: string, what: Described][] {
  return Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, what]): [string, string, Described] => [path, method, what]),
  );
}

test('[HTTP-1] the OpenAPI document is sound: required parts, resolvable references, unique ids, known statuses', async () => {
  await using door = await startApi();
  const { status, body } = await door.ask('GET', '/openapi.json');
  assert.equal(status, 200);
  assert.equal(body.openapi, '3.1.0');
  const { title, version } = body.info as JsonObject;
  assert.ok(typeof title === 'string' && typeof version === 'string');
  visit(body, (object, path) => {
    const { $ref } = object;
    if (typeof $ref === 'string') assert.notEqual(at(body, $ref), undefined, `${path}: ${$ref}`);
    assert.equal(object.$schema, undefined, `${path}: a dialect of its own`);
    if (typeof object.in === 'string') {
      assert.ok(['query', 'header', 'path'].includes(object.in) && typeof object.name === 'string', path);
      assert.ok(object.in !== 'path' || object.required === true, path);
    }
  });
  const ids = new Set<string>();
  for (const [path, method, { operationId, responses, parameters = [], requestBody }] of described(body)) {
    assert.ok(!ids.has(operationId), operationId);
    ids.add(operationId);
    assert.ok(Object.keys(responses).includes('200'));
    for (const code of Object.keys(responses)) assert.match(code, /^[2-5]\d\d$/);
    for (const response of Object.values(responses))
      assert.ok(typeof response.$ref === 'string' || typeof response.description === 'string', path);
    assert.ok(method === 'post' ? requestBody !== undefined : requestBody === undefined, path);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (parameters as JsonObject[])
      .filter((each) => each.in === 'path')
      .map(({ name }) => name);
    assert.deepEqual(declared, named, path);
  }
});

test('[HTTP-1] it is a valid OpenAPI 3.1 document', async () => {
  await using door = await startApi();
  const { body } = await door.ask('GET', '/openapi.json');
  const validator = new Validator();
  const result = await validator.validate(structuredClone(body));
  assert.deepEqual([result.valid, result.errors, validator.version], [true, undefined, '3.1']);
});

test('[HTTP-1] every operation is in it, with its schema, its statuses and whether it needs a key', async () => {
  await using door = await startApi();
  const { body } = await door.ask('GET', '/openapi.json');
  const all = described(body);
  for (const { name, route, open, mutates } of operations) {
    const [, , what] =
      all.find(([path, method]) => path === route.path && method === route.method.toLowerCase()) ?? [];
    assert.equal(what?.operationId, name);
    assert.deepEqual(what?.security, open === true ? [] : undefined);
    const statuses =
      open === true ? ['422', '429', '500', '503'] : ['401', '403', '422', '429', '500', '503'];
    for (const status of statuses) assert.ok(status in (what?.responses ?? {}), `${name} ${status}`);
    const text = JSON.stringify(what?.parameters);
    assert.equal(text.includes('IdempotencyKey'), mutates && route.method === 'POST');
  }
  const documented = new Set(all.map(([path]) => path));
  const served = door.api.routes.map(({ path }) => path).filter((path) => !/^\/(docs|openapi)/.test(path));
  assert.deepEqual(
    served.filter((path) => !documented.has(path)),
    [],
  );
});

test('[HTTP-1] the example of every operation, sent as it stands, is taken', async () => {
  await using door = await startApi();
  const person = await door.key({ person: 'bob' });
  const { body } = await door.ask('GET', '/openapi.json');
  let sent = 0;
  for (const [path, method, { operationId, requestBody }] of described(body)) {
    const operation = operationsByName.get(operationId);
    if (operation === undefined) continue;
    const key = (operation.administers ?? operation.personal) === true ? person.key : ALICE;
    const schema = (await operation.input()).json;
    const sample = sampleOf(operation, schema);
    const content = (requestBody as { content: Record<string, JsonObject> } | undefined)?.content;
    if (content !== undefined) assert.deepEqual(content['application/json']?.example, sample);
    const query = new URLSearchParams(
      Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, String(value)])),
    );
    const reply =
      method === 'post'
        ? await door.post(path, sample, withKey(key))
        : await door.ask('GET', `${path}?${query}`, withKey(key));
    assert.equal(reply.status, 200, `${operationId}: ${reply.text}`);
    assert.equal(typeof reply.body.success, 'boolean');
    sent += 1;
  }
  assert.equal(sent, operations.length);
});

test('without an example of its own an operation gets one from its schema', () => {
  const schema: JsonObject = {
    required: ['id', 'count', 'mode', 'tags', 'done'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      count: { type: 'integer', minimum: 5 },
      mode: { enum: ['a', 'b'] },
      tags: { type: 'array', items: { type: 'string' } },
      done: { type: 'boolean' },
      other: { type: 'string' },
    },
  };
  const [first] = operations;
  assert.ok(first);
  const { sample: _, ...bare } = first;
  assert.deepEqual(sampleOf(bare, schema), {
    id: '0192a000-0000-7000-8000-000000000001',
    count: 5,
    mode: 'a',
    tags: ['example'],
    done: true,
  });
});

test('[HTTP-6] the page to try it: nothing from elsewhere, no frames, no other files', async () => {
  await using door = await startApi();
  const page = await door.ask('GET', '/docs');
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
  assert.doesNotMatch(page.text, /https?:\/\//);
  assert.equal((await door.ask('GET', '/docs/page.js')).status, 200);
  for (const path of [
    '../package.json',
    '..%2Fpackage.json',
    '%2e%2e/package.json',
    'index.html',
    '/etc/passwd',
    'page.css/../package.json',
    'constructor',
    '__proto__',
    'page.css%00.js',
  ])
    assert.equal((await door.ask('GET', `/docs/${path}`)).status, 404, path);
});

test('docs/http.md lists every route of an operation', () => {
  const manual = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
  assert.ok(manual.includes(routeTable()), 'run `node scripts/route-table.ts`');
});
