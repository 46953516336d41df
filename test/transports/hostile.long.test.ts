import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations, operationsByName } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { inFile, toWords } from './doors.ts';
import { complaint, type Hostile, hostileInputs, soundInputs } from './hostile.ts';
import { cox, fakeTerminal, makeStore, type Scratch, scratch, startHttp, startMcp } from './support.ts';

const hostile = await hostileInputs();

/** The log itself says whether anything was written: at most that an agent was there. */
async function assertNothingWritten({ folder, store }: Scratch): Promise<void> {
  const coxswain = await open({ store, cwd: folder });
  try {
    const { entries } = await coxswain.store.read(coxswain.project, 0, 100_000);
    const events = entries.flatMap((entry) => entry.events);
    assert.deepEqual(
      events.filter(({ kind }) => kind !== 'session'),
      [],
    );
  } finally {
    await coxswain.close();
  }
}

/** Many at once: the point is what is answered, not how long each takes. */
async function inTurns<T>(
  items: readonly T[],
  width: number,
  each: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await each(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

function explain(input: Hostile, why: string | undefined, answer: JsonObject): void {
  if (why !== undefined)
    assert.fail(
      `${input.operation} ${JSON.stringify(input.input).slice(0, 400)}: ${why}: ${JSON.stringify(answer)}`,
    );
}

test('the hostile inputs leave no operation out', () => {
  assert.deepEqual(Object.keys(soundInputs).sort(), [...operationsByName.keys()].sort());
});

test('HTTP: what is wrong is refused by its name, nothing is written, the server lives on', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  await inTurns(fc.sample(hostile, 1000), 8, async (input) => {
    const { path = '' } = operationsByName.get(input.operation)?.route ?? {};
    const headers = { 'x-agent-id': 'mallory', 'content-type': 'application/json' };
    const { status, body } = await http.send('POST', path, JSON.stringify(input.input), headers);
    explain(input, complaint(body, input) ?? (status === 422 ? undefined : `status ${status}`), body);
  });
  assert.deepEqual((await http.send('GET', '/health')).status, 200);
  await assertNothingWritten(place);
});

test('HTTP: any bytes for a body, any names for an agent', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.string().map((text) => Buffer.from(text)),
    fc.constantFrom('[', '{"a":', 'null', '[]', '"x"', '1', '\ufeff{}', '['.repeat(400_000)).map(Buffer.from),
    fc.constant(Buffer.from(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)),
  );
  const json = { 'content-type': 'application/json', 'x-agent-id': 'mallory' };
  await inTurns(fc.sample(bodies, 250), 4, async (bytes) => {
    const { status, body } = await http.send('POST', '/locks/acquire', bytes, json);
    assert.equal(status, 422, JSON.stringify(body));
    assert.ok(bytes.length === 0 || /^(body|file_path|\w*)$/.test(String(body.field)));
  });
  const names = fc.oneof(
    fc.constantFrom<unknown>('', ' ', 'a\nb', 'a\u202eb', 'coxswain', 'person:x', 'x'.repeat(129), '\ud800'),
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()), fc.object()),
  );
  const fields = fc.constantFrom('agent_id', 'session_id', 'agent_type');
  await inTurns(fc.sample(fc.tuple(fields, names), 200), 4, async ([field, name]) => {
    if (field !== 'agent_id' && (name === 'coxswain' || name === 'person:x')) return;
    const body = { agent_id: 'me', file_path: 'a.ts', [field]: name };
    const reply = await http.post('/locks/acquire', body);
    assert.deepEqual([reply.status, reply.body.field], [422, field], JSON.stringify(body));
  });
  assert.equal((await http.send('GET', '/health')).status, 200);
  await assertNothingWritten(place);
});

test('HTTP: raw bytes instead of a request end that connection only', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const { hostname, port } = new URL(http.url);
  await inTurns(fc.sample(fc.uint8Array({ minLength: 1, maxLength: 300 }), 200), 4, (bytes) => {
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.end(bytes));
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      socket.resume();
    });
  });
  assert.equal((await http.send('GET', '/health')).status, 200);
});

test('MCP: what is wrong is refused by its name, nothing is written, the server lives on', async () => {
  using place = scratch();
  await using mcp = await startMcp(place, { args: ['--tools', 'all'] });
  const offered = operations
    .filter(({ administers, personal }) => administers !== true && personal !== true)
    .map(({ name }) => name);
  // A field named __proto__ does not get through the SDK.
  const typed = hostile.filter(
    ({ operation, input }) => offered.includes(operation) && !Object.hasOwn(input, '__proto__'),
  );
  await inTurns(fc.sample(typed, 700), 8, async (input) => {
    const { answer, isError, text } = await mcp.call(input.operation, input.input);
    explain(input, complaint(answer, input) ?? (isError ? undefined : 'it is no error'), answer);
    assert.deepEqual(JSON.parse(text), answer);
  });
  const { tools } = await mcp.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    offered,
  );
  await assertNothingWritten(place);
});

test('MCP: lines that are no message, and messages that make no sense', async () => {
  using place = scratch();
  const opening = {
    jsonrpc: '2.0',
    id: 'first',
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const noise = fc.sample(
    fc.oneof(
      fc.string().map((text) => text.replaceAll('\n', ' ')),
      fc.json(),
      fc
        .record({
          jsonrpc: fc.constant('2.0'),
          id: fc.integer(),
          method: fc.string(),
          params: fc.jsonValue(),
        })
        .map((message) => JSON.stringify(message)),
      fc
        .jsonValue()
        .map((name) =>
          JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: 5 } }),
        ),
    ),
    500,
  );
  const last = {
    jsonrpc: '2.0',
    id: 'last',
    method: 'tools/call',
    params: { name: 'check_locks', arguments: {} },
  };
  const lines = [JSON.stringify(opening), ...noise, JSON.stringify(last)];
  const { code, out } = await cox(['mcp', '--store', place.store], {
    cwd: place.folder,
    input: `${lines.join('\n')}\n`,
  });
  assert.equal(code, 0);
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  const answer = answers.find(({ id }) => id === 'last');
  const result = answer?.result as JsonObject | undefined;
  assert.deepEqual(result?.structuredContent, { success: true, locks: [] });
  await assertNothingWritten(place);
});

test('CLI: what is wrong is refused by its name with exit code 2, nothing is written', async () => {
  using place = scratch();
  await makeStore(place);
  let typed = 0;
  for (const input of fc.sample(hostile, 600)) {
    if (!canBeTyped(input)) continue;
    typed += 1;
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store, AGENT_ID: 'mallory' });
    const [group = '', verb = '', ...rest] = toWords(
      input.operation,
      inFile(input.operation, input.input, place.folder),
    );
    const code = await main([group, verb, '--json', ...rest], terminal);
    const answer = JSON.parse(written.out) as JsonObject;
    explain(input, complaint(answer, input) ?? (code === 2 ? undefined : `exit code ${code}`), answer);
    assert.equal(written.err, '');
  }
  assert.ok(typed > 100, `only ${typed} of them can be typed`);
  await assertNothingWritten(place);
});

/** A command line says less: every value is a word, a missing word shifts the next, and no word has a NUL. */
function canBeTyped({ operation, type, field, input }: Hostile): boolean {
  const value = input[field];
  const { positional = [], file } = operationsByName.get(operation) ?? {};
  // Nor has a file in UTF-8 an unpaired surrogate.
  if (field === file && typeof value === 'string' && !value.isWellFormed()) return false;
  if (type === 'missing') return !positional.slice(0, -1).includes(field);
  if (type === 'string') return typeof value === 'string' && !value.includes('\0');
  if (type !== 'number' && type !== 'integer') return false;
  return typeof value === 'number' || (typeof value === 'string' && Number.isNaN(Number(value)));
}

test('CLI: any words end in an exit code that means something, and in one JSON object with --json', async () => {
  using place = scratch();
  const vocabulary = operations.flatMap(({ group, verb }) => [group, verb]);
  const word = fc.oneof(
    fc.constantFrom(
      ...vocabulary,
      'help',
      'status',
      'replay',
      '--help',
      '--',
      '-',
      '--at',
      '--success',
      '--no-success',
    ),
    fc.constantFrom(
      '--items',
      '--tasks',
      '--priority',
      '--files',
      '--ttl-minutes',
      '--agent',
      '--limit',
      '--version',
    ),
    fc.string({ maxLength: 12 }).filter((text) => !/store|serve|mcp/.test(text)),
  );
  for (const words of fc.sample(fc.array(word, { maxLength: 7 }), 250)) {
    const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: 'memory:' });
    const code = await main(['--json', ...words], terminal);
    assert.ok([0, 1, 2].includes(code), `${JSON.stringify(words)}: ${code} ${written.out}`);
    const isHelp = /^(Usage: |\d+\.\d+\.\d+\n$)/.test(written.out);
    assert.equal(isHelp ? 0 : (JSON.parse(written.out) as JsonObject).success === true ? 0 : code, code);
    assert.equal(written.err, '', JSON.stringify(words));
  }
});

test('__proto__ is never obeyed', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  await using mcp = await startMcp(place);
  const input = JSON.parse(
    '{"file_path":"p.ts","__proto__":{"agent_id":"eve","ttl_minutes":0.02}}',
  ) as JsonObject;
  await http.post('/locks/acquire', input, { 'x-agent-id': 'mallory' });
  await mcp.call('acquire_lock', { ...input, file_path: 'q.ts' });
  const { locks } = (await http.post('/locks/check', {})).body;
  for (const lock of locks as JsonObject[]) {
    assert.notEqual(lock.locked_by, 'eve');
    assert.ok(Date.parse(String(lock.expires_at)) - Date.parse(String(lock.locked_at)) > 3_600_000);
  }
  assert.equal((await http.send('GET', '/health')).status, 200);
});
