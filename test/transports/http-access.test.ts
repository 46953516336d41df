import assert from 'node:assert/strict';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { AnyOperation } from '../../src/runtime/operation.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { createCoordinationApi } from '../../src/transports/http/index.ts';
import { until } from '../support/until.ts';
import { ALICE, type ApiDoor, ENV, SERVICE, settableClock, startApi, withKey } from './api.ts';
import { soundInputs } from './hostile.ts';
import { exchange, scratch } from './support.ts';

/** Without a key: this, and nothing else. */
const OPEN = ['/health', '/locks/status/{path}', '/openapi.json', '/docs', '/docs/{file}'];
/** Has a signature instead of a key, and tests of its own. */
const SIGNED = '/webhook/github';

const mcp = {
  handle: async (_request: unknown, response: { end(text: string): void }) => response.end('{}'),
  stop: async () => {},
};

const concrete = (path: string) => path.replace('{path}', 'src/a.ts').replace('{file}', 'page.js');

/** Its own, and those under which it is known elsewhere. */
const pathsOf = ({ route, aliases = [] }: AnyOperation) => [route, ...aliases].map(({ path }) => path);

function inQuery(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

async function askAs(door: ApiDoor, path: string, method: string, headers: Record<string, string>) {
  const name = operations.find((operation) => pathsOf(operation).includes(path))?.name;
  const input: JsonObject = name === undefined ? {} : (soundInputs[name] ?? {});
  const body = JSON.stringify(input);
  const query = Object.entries(input).map(([field, value]): [string, string] => [field, inQuery(value)]);
  return await door.ask(
    method,
    method === 'GET' && query.length > 0 ? `${concrete(path)}?${new URLSearchParams(query)}` : concrete(path),
    method === 'POST' ? { 'content-type': 'application/json', ...headers } : headers,
    method === 'POST' ? body : undefined,
  );
}

test('[HTTP-6] [HTTP-2] [HTTP-3] every route and method without a key, with a wrong one, as somebody else', async () => {
  await using door = await startApi({ mcp });
  assert.deepEqual(
    door.api.routes.filter(({ key }) => key !== 'required').map(({ path }) => path),
    [...operations.filter(({ open }) => open).map(({ route }) => route.path), ...OPEN, SIGNED],
  );
  // Some of the wrong keys would be answered 429; a person's key has no part in that.
  const outcomes = async (headers: Record<string, string>) => {
    const seen: string[] = [];
    for (const { path, methods } of door.api.routes.filter(({ path }) => path !== SIGNED))
      for (const method of methods.filter((each) => each !== 'HEAD' && path !== '/events'))
        seen.push(`${method} ${path} ${(await askAs(door, path, method, headers)).status}`);
    return seen;
  };
  const expected = (status: (path: string) => number) =>
    door.api.routes.flatMap(({ path, methods }) =>
      methods
        .filter((each) => each !== 'HEAD' && path !== '/events' && path !== SIGNED)
        .map((method) => `${method} ${path} ${status(path)}`),
    );
  const isOpen = (path: string) =>
    OPEN.includes(path) || operations.some(({ route, open }) => open && route.path === path);
  assert.deepEqual(
    await outcomes({}),
    expected((path) => (isOpen(path) ? 200 : 401)),
  );
  const isOperation = (path: string) => operations.some((operation) => pathsOf(operation).includes(path));
  const asBob = { ...withKey(ALICE), 'x-agent-id': 'bob' };
  assert.deepEqual(
    await outcomes(asBob),
    expected((path) => (isOperation(path) || ['/mcp', '/ready', '/metrics'].includes(path) ? 403 : 200)),
  );
  const events = await door.ask('GET', '/events', asBob);
  assert.equal(events.status, 403);
  const drafts = await door.post('/drafts/status', { agent_id: 'bob' }, withKey(ALICE));
  assert.deepEqual([drafts.status, drafts.body.error], [403, 'forbidden']);
  const administers = (path: string) =>
    operations.some(
      (operation) =>
        (operation.administers ?? operation.personal) === true && pathsOf(operation).includes(path),
    );
  const asService = { ...withKey(SERVICE), 'x-agent-id': 'bob' };
  assert.deepEqual(
    await outcomes(asService),
    expected((path) => (administers(path) ? 403 : 200)),
  );
  const person = await door.key({ person: 'bob' });
  assert.deepEqual(
    await outcomes(withKey(person.key)),
    expected(() => 200),
  );
});

test('[HTTP-6] a wrong key is refused on every route that takes one', async () => {
  for (const path of ['/ready', '/metrics', '/events', '/mcp', ...operations.flatMap(pathsOf)]) {
    const clock = settableClock();
    await using door = await startApi({ mcp, clock });
    const method = door.api.routes.find((route) => route.path === path)?.methods[0] ?? 'GET';
    const reply = await askAs(door, path, method, withKey('wrong'));
    assert.deepEqual([reply.status, reply.body.error], [401, 'unauthorized'], path);
  }
});

test('[HTTP-5] bad input: 422 with the field and the reason, in a body, a path and a query', async () => {
  await using door = await startApi();
  const cases: [
    method: string,
    path: string,
    body: JsonObject | undefined,
    field: string,
    expected: RegExp,
  ][] = [
    ['POST', '/locks/acquire', { file_path: 'a', ttl_minutes: 0 }, 'ttl_minutes', /480/],
    ['POST', '/locks/acquire', { file_path: 'a', nonsense: 1 }, 'nonsense', /file_path/],
    ['POST', '/work/submit', { task_description: 'd' }, 'task_type', /./],
    ['POST', '/locks/acquire', { file_path: '../a' }, 'file_path', /^$/],
    ['GET', '/events?after=x', undefined, 'after', /position/],
    ['GET', '/events?after=99999', undefined, 'after', /reached/],
    ['GET', '/events?kinds=Lock', undefined, 'kinds', /lock,task/],
    ['GET', '/events?since=1', undefined, 'since', /kinds/],
  ];
  for (const [method, path, body, field, expected] of cases) {
    const headers = { ...withKey(ALICE), 'content-type': 'application/json' };
    const reply = await door.ask(method, path, headers, body && JSON.stringify(body));
    assert.deepEqual([reply.status, reply.body.success, reply.body.field], [422, false, field], path);
    assert.match(String(reply.body.expected ?? ''), expected);
    assert.ok(String(reply.body.message).startsWith(`${field}:`) || reply.body.error !== 'invalid_input');
  }
});

test('a rate limit for each credential: 429 with Retry-After, others are not held back, time heals', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock, rate_per_minute: 60 });
  const ask = async (key: string) => (await door.post('/locks/check', {}, withKey(key))).status;
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1) statuses.push(await ask(ALICE));
  assert.deepEqual(statuses, [...new Array(10).fill(200), 429, 429]);
  const limited = await door.post('/locks/check', {}, withKey(ALICE));
  assert.equal(limited.headers['retry-after'], '1');
  assert.equal(await ask(SERVICE), 200);
  assert.equal((await door.ask('GET', '/health')).status, 200);
  clock.forward_ms += 1_000;
  assert.deepEqual([await ask(ALICE), await ask(ALICE)], [200, 429]);
});

test('metrics: requests, durations, connections, listeners and memory, and what others add', async () => {
  await using door = await startApi({ moreMetrics: async () => 'more_metrics 7\n' });
  await door.post('/locks/check', {}, withKey(ALICE));
  await door.ask('GET', '/no/such"\\path', withKey(ALICE));
  const { text, headers } = await door.ask('GET', '/metrics', withKey(ALICE));
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  for (const expected of [
    /^cox_http_requests_total\{method="POST",route="\/locks\/check",status="200"\} 1$/m,
    /^cox_http_requests_total\{method="GET",route="other",status="404"\} 1$/m,
    /^cox_http_request_duration_seconds_bucket\{route="\/locks\/check",le="\+Inf"\} 1$/m,
    /^cox_http_request_duration_seconds_count\{route="\/locks\/check"\} 1$/m,
    /^cox_http_connections [1-9]/m,
    /^cox_event_listeners 0$/m,
    /^cox_audit_rows_dropped_total 0$/m,
    /^process_resident_memory_bytes [1-9]\d{6,}/m,
    /^more_metrics 7$/m,
  ])
    assert.match(text, expected);
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? -?[\d.e+-]+)$/);
});

test('[HTTP-4] createCoordinationApi: options, else the environment; a handler for a server of one’s own', async () => {
  using place = scratch();
  const env = { ...ENV, API_HOST: 'localhost', API_PORT: '0' };
  const api = await createCoordinationApi({ env, store: place.store, cwd: place.folder });
  const server = createServer(api.handler);
  try {
    assert.match(await api.listen(), /^http:\/\/localhost:\d+$/);
    assert.equal(await api.hasKeys(), true);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
  } finally {
    server.closeAllConnections();
    server.close();
    await api.stop();
  }
  for (const [wrong, field] of [
    [{ API_PORT: '70000' }, 'port'],
    [{ API_RATE_LIMIT: 'many' }, 'API_RATE_LIMIT'],
    [{ API_ALLOWED_HOSTS: 'a b' }, 'allow_host'],
    [{ COORDINATION_API_KEY_IDENTITIES: '{' }, 'COORDINATION_API_KEY_IDENTITIES'],
  ] as const)
    await assert.rejects(createCoordinationApi({ env: wrong, store: 'memory:' }), {
      name: 'ConfigurationError',
      message: new RegExp(`^${field}: expected`),
    });
});

test('[HTTP-4] other machines: only when a key opens something, and only under names it goes by', async () => {
  const coxswain = await open({ store: 'memory:' });
  try {
    const options = { coxswain, host: '0.0.0.0', port: 0 };
    const closed = await createCoordinationApi({ ...options, env: {} });
    await assert.rejects(closed.listen(), /no API key yet/);
    await using door = await startApi({ ...options, allowed_hosts: ['cox.example.org'] });
    const { port } = new URL(door.url);
    const status = (headers: Record<string, string>) => healthStatus(`http://127.0.0.1:${port}`, headers);
    for (const host of [
      'cox.example.org',
      'COX.example.org:8081',
      '10.1.2.3:8081',
      '[2001:db8::1]',
      'localhost',
    ])
      assert.equal(await status({ host }), 200, host);
    for (const host of [
      'evil.example.org',
      'cox.example.org.evil.org',
      'a@cox.example.org',
      '10.1.2.3.evil.org',
    ])
      assert.equal(await status({ host }), 403, host);
    assert.equal(await status({ host: 'cox.example.org', origin: 'https://cox.example.org' }), 200);
    assert.equal(await status({ host: 'cox.example.org', origin: 'https://evil.example.org' }), 403);
  } finally {
    await coxswain.close();
  }
});

async function healthStatus(url: string, headers: Record<string, string>): Promise<number> {
  const agent = new Agent();
  try {
    return (await exchange(agent, url, 'GET', '/health', undefined, headers)).status;
  } finally {
    agent.destroy();
  }
}

test('[METRIC-1] /metrics reports the nine success metrics with their targets, counted from the log', async () => {
  await using door = await startApi();
  const scrape = async () => (await door.ask('GET', '/metrics', withKey(ALICE))).text;
  const samples = (text: string) => text.match(/^cox_success_samples\{/gm)?.length;
  assert.equal(samples(await scrape()), 9);
  const { body } = await door.post('/work/submit', { task_type: 't', task_description: 'd' }, withKey(ALICE));
  await door.post('/work/claim', {}, withKey(ALICE));
  await door.post('/work/complete', { task_id: body.task_id as string, success: true }, withKey(ALICE));
  const rate = /^cox_success_metric\{name="task_completion_rate",unit="ratio",target="> 0.9"\} 1$/m;
  await until(async () => rate.test(await scrape()));
});
