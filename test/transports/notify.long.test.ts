import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import { checkGuardrails } from '../../src/features/guardrails/operations.ts';
import { readChannels } from '../../src/features/trust/notify/channels.ts';
import { deliverAll, deliverRound } from '../../src/features/trust/notify/courier.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { until } from '../support/until.ts';
import { cox, type Scratch, scratch, startHttp, startMcp } from './support.ts';

const FORCE = 'git push --force origin topic';

async function withStore(place: Scratch, use: (coxswain: Coxswain) => Promise<void>): Promise<void> {
  const coxswain = await open({ store: place.store, cwd: place.folder, env: {} });
  try {
    await use(coxswain);
  } finally {
    await coxswain.close();
  }
}

async function blocked(coxswain: Coxswain, operation_text = FORCE): Promise<JsonObject> {
  const agent = coxswain.connect({ agent_id: 'alice', agent_type: 'tester', session_id: 's' }, 'agent');
  return await agent.perform(checkGuardrails, { operation_text });
}

const channelsOf = (env: Record<string, string>, cwd = '/') => {
  const channels = readChannels(env, cwd);
  assert.ok(Array.isArray(channels));
  return channels;
};

/** Whole ones: the file may have been made a moment ago, and its first line be on its way. */
const linesOf = (file: string) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonObject)
    : [];

test('[APPR-3] file: a new item is told once, however many processes tell and however often', async () => {
  using place = scratch();
  const file = join(place.folder, 'told.jsonl');
  await withStore(place, async (coxswain) => {
    const { approval_id } = await blocked(coxswain);
    await blocked(coxswain);
    await blocked(coxswain, 'rm -rf /srv');
    const tell = () =>
      cox(['approval', 'notify', '--json'], {
        cwd: place.folder,
        env: { COX_STORE: place.store, COX_NOTIFY_FILE: 'told.jsonl' },
      });
    const told = (await Promise.all([tell(), tell(), tell(), tell()])).map(
      ({ out }) => JSON.parse(out) as JsonObject,
    );
    assert.equal(
      told.reduce((sum, { sent }) => sum + Number(sent), 0),
      2,
    );
    const lines = linesOf(file);
    assert.deepEqual(
      lines.map(({ about, agent_id, operation }) => `${about} ${agent_id} ${operation}`).sort(),
      ['approval alice force_push', 'approval alice recursive_delete'],
    );
    assert.ok(lines.some((line) => line.approval_id === approval_id && line.subject === FORCE));
    assert.equal((await deliverRound(coxswain, channelsOf({ COX_NOTIFY_FILE: file }))).sent, 0);
  });
});

test('[APPR-3] webhook: signed, no redirect followed; a failure is tried three times and then left', async () => {
  using place = scratch();
  const seen: { body: string; headers: IncomingHttpHeaders }[] = [];
  const answers = [500, 302, 200, 503, 503, 503];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      seen.push({ body, headers: request.headers });
      response.writeHead(answers.shift() ?? 200, { location: '/elsewhere' }).end();
    });
  }).listen(0, '127.0.0.1');
  await until(async () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=not-to-be-seen`;
  const channels = channelsOf({ COX_NOTIFY_WEBHOOK: url, COX_NOTIFY_SECRET: 'quiet' });
  // The pauses between tries are not waited for.
  let now_ms = Date.now();
  const clock = {
    now_ms: () => now_ms,
    elapsed_ms: () => now_ms,
    sleep: async (ms: number) => {
      now_ms += ms;
    },
  };
  const coxswain = await open({ store: 'memory:', cwd: place.folder, env: {}, clock });
  try {
    await blocked(coxswain);
    assert.deepEqual(await deliverAll(coxswain, channels, 60_000), { sent: 1, failed: 2 });
    await blocked(coxswain, 'rm -rf /srv');
    assert.deepEqual(await deliverAll(coxswain, channels, 600_000), { sent: 0, failed: 3 });
    assert.equal((await deliverRound(coxswain, channels)).next_ms, undefined, 'given up');
    assert.equal(seen.length, 6);
    assert.equal(new Set(seen.map(({ body }) => (JSON.parse(body) as JsonObject).notice_id)).size, 2);
    for (const { body, headers } of seen)
      assert.ok(await verify('quiet', body, String(headers['x-hub-signature-256'])));
    const { entries } = await coxswain.store.read('default', 0, 100);
    assert.ok(!JSON.stringify(entries).includes('not-to-be-seen'), 'an address may hold a secret');
    assert.match(JSON.stringify(entries), /the webhook answered 503/);
  } finally {
    await coxswain.close();
    server.close();
  }
});

test('[APPR-3] command: the item on standard input, no shell; one that hangs or is missing is a failure', async () => {
  using place = scratch();
  const got = join(place.folder, 'got');
  const script = join(place.folder, 'tell.mjs');
  writeFileSync(
    script,
    `import { readFileSync, writeFileSync } from 'node:fs';
     writeFileSync(process.argv[2], process.argv[3] + readFileSync(0, 'utf8'));`,
  );
  const command = JSON.stringify([process.execPath, script, got, '$(id); ']);
  await withStore(place, async (coxswain) => {
    await blocked(coxswain, 'rm -rf "$(id)"; echo \u001b[31m');
    assert.equal((await deliverRound(coxswain, channelsOf({ COX_NOTIFY_COMMAND: command }))).sent, 1);
    const text = readFileSync(got, 'utf8');
    assert.ok(text.startsWith('$(id); {'), 'nothing was expanded');
    assert.equal((JSON.parse(text.slice('$(id); '.length)) as JsonObject).operation, 'recursive_delete');
    const missing = channelsOf({ COX_NOTIFY_COMMAND: join(place.folder, 'not-there') });
    assert.equal((await deliverRound(coxswain, missing)).failed, 1);
    assert.equal((await deliverRound(coxswain, channelsOf({ COX_NOTIFY_COMMAND: 'false' }))).failed, 1);
  });
});

test('[APPR-3] a sender that died amid it is followed by another one, a minute later', async () => {
  using place = scratch();
  let now_ms = Date.now();
  const clock = { now_ms: () => now_ms, elapsed_ms: () => now_ms, sleep: async () => {} };
  const coxswain = await open({ store: 'memory:', cwd: place.folder, env: {}, clock });
  await blocked(coxswain);
  const told: JsonObject[] = [];
  const hangs = { name: 'c', send: () => new Promise<void>(() => {}) };
  const works = { name: 'c', send: async (notice: JsonObject) => void told.push(notice) };
  void deliverRound(coxswain, [hangs]);
  await until(async () => (await deliverRound(coxswain, [works])).next_ms !== undefined);
  assert.equal(told.length, 0, 'claimed by the one that hangs');
  now_ms += 61_000;
  assert.equal((await deliverRound(coxswain, [works])).sent, 1);
  assert.deepEqual(
    told.map(({ attempt }) => attempt),
    [2],
  );
  await coxswain.close();
});

test('[APPR-3] [GUARD-3] servers tell at once by themselves, commands have it told behind them', async () => {
  using place = scratch();
  const file = join(place.folder, 'told.jsonl');
  const env = { COX_NOTIFY_FILE: 'told.jsonl', COX_STORE: place.store, AGENT_TYPE: 'tester' };
  {
    await using http = await startHttp(place, [], env);
    const headers = { 'x-agent-id': 'alice', 'x-agent-type': 'tester' };
    await http.post('/guardrails/check', { operation_text: FORCE }, headers);
    await until(async () => linesOf(file).length === 1);
  }
  {
    await using mcp = await startMcp(place, { env: { ...env, AGENT_ID: 'bob' } });
    await mcp.call('check_guardrails', { operation_text: FORCE });
    await until(async () => linesOf(file).length === 2);
  }
  const typed = await cox(['guard', 'check', FORCE, '--agent', 'carol'], { cwd: place.folder, env });
  assert.equal(typed.code, 3, typed.err);
  await until(async () => linesOf(file).length === 3);
  assert.deepEqual(
    linesOf(file).map(({ agent_id }) => agent_id),
    ['alice', 'bob', 'carol'],
  );
});

test('[APPR-3] channels that make no sense are named at start', async () => {
  using place = scratch();
  for (const [name, value] of [
    ['COX_NOTIFY_COMMAND', '["a", 1]'],
    ['COX_NOTIFY_COMMAND', '[]'],
    ['COX_NOTIFY_COMMAND', '[broken'],
    ['COX_NOTIFY_WEBHOOK', 'file:///etc/passwd'],
    ['COX_NOTIFY_WEBHOOK', 'nonsense'],
  ] as const) {
    const refused = readChannels({ [name]: value }, '/');
    assert.ok(!Array.isArray(refused) && refused.field === name, value);
    const served = await cox(['serve', '--port', '0', '--json'], {
      cwd: place.folder,
      env: { [name]: value, COX_STORE: place.store },
    });
    assert.deepEqual([served.code, (JSON.parse(served.out) as JsonObject).field], [2, name]);
  }
});
