import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectOptions, chooseTarget } from '../../src/client/client-options.ts';
import { tokenActor } from '../../src/client/token.ts';
import { sessionToken } from '../../src/features/sessions/session-token.ts';
import { connect } from '../../src/index.ts';

type Env = Record<string, string>;

const URL_ENV = { COORDINATION_API_URL: 'https://cox.example/api', COORDINATION_API_KEY: 'env-key' };

function chosen(options: ConnectOptions, env: Env = {}): string {
  const target = chooseTarget(options, env);
  if (target.kind === 'local') return 'local';
  const { url, credential } = target;
  return `${url.href} ${credential === undefined ? 'no key' : `${credential.header}: ${credential.value}`}`;
}

test('connect: an option says where, else the environment, else the store of this place', () => {
  const cases: [ConnectOptions, Env, string][] = [
    [{}, {}, 'local'],
    [{}, { COX_STORE: 'memory:' }, 'local'],
    [{}, URL_ENV, 'https://cox.example/api x-api-key: env-key'],
    [{}, { COORDINATION_API_URL: '' }, 'local'],
    [{ store: 'memory:' }, URL_ENV, 'local'],
    [{ cwd: '/' }, URL_ENV, 'local'],
    [{ project: 'p' }, URL_ENV, 'local'],
    [{ url: 'http://[::1]:8081' }, { COX_STORE: 'memory:' }, 'http://[::1]:8081/ no key'],
    [{ url: 'http://a', api_key: 'k' }, URL_ENV, 'http://a/ x-api-key: k'],
    [{ url: 'http://a', session_token: 'coxs_x' }, URL_ENV, 'http://a/ authorization: Bearer coxs_x'],
    [{ session_token: 'coxs_x' }, URL_ENV, 'https://cox.example/api authorization: Bearer coxs_x'],
    [{ url: 'http://a' }, { COORDINATION_API_KEY: 'env-key' }, 'http://a/ x-api-key: env-key'],
    // The key of one server is not shown to another one.
    [{ url: 'http://a' }, URL_ENV, 'http://a/ no key'],
    [{ url: 'https://cox.example/other' }, URL_ENV, 'https://cox.example/other x-api-key: env-key'],
  ];
  for (const [options, env, expected] of cases)
    assert.equal(chosen(options, env), expected, JSON.stringify([options, env]));
});

test('connect: what contradicts itself or can’t be sent is a mistake, said without secrets', () => {
  const cases: [ConnectOptions, Env, RegExp][] = [
    [{ url: 'http://a', store: 'memory:' }, {}, /^store: .*either url/],
    [{ url: 'http://a', cwd: '/' }, {}, /^cwd: /],
    [{}, { ...URL_ENV, COX_STORE: 'memory:' }, /COORDINATION_API_URL and COX_STORE/],
    [{ api_key: 'k' }, {}, /^api_key: .*COORDINATION_API_URL/],
    [{ store: 'memory:', session_token: 'coxs_x' }, URL_ENV, /^session_token: /],
    [{ url: 'http://a', api_key: 'hush', session_token: 'coxs_hush' }, {}, /^session_token: .*either/],
    [{ url: '' }, {}, /^url: /],
    [{ url: 'localhost:8081' }, {}, /^url: .*http:/],
    [{ url: 'postgres://u:hush@h/d' }, {}, /^url: /],
    [{}, { COORDINATION_API_URL: 'hush' }, /^COORDINATION_API_URL: /],
    [{ url: 'http://u:hush@a' }, {}, /^url: .*api_key/],
    [{ url: 'http://a?key=hush' }, {}, /^url: /],
    [{ url: 'http://a', api_key: 'hush\r\nx-agent-id: root' }, {}, /^api_key: /],
    [{ url: 'http://a', api_key: '' }, {}, /^api_key: /],
    [{ url: 'http://a', agent_id: 'a\nb' }, {}, /^agent_id: /],
    [{ url: 'http://a', agent_id: 'zoë' }, {}, /^agent_id: .*ASCII/],
    [{ url: 'http://a', timeout_ms: Number.NaN }, {}, /^timeout_ms: /],
    [{ store: 'memory:', agent_id: 'coxswain' }, {}, /^agent_id: /],
  ];
  for (const [options, env, message] of cases)
    assert.throws(
      () => chooseTarget(options, env),
      (error: TypeError) => message.test(error.message) && !error.message.includes('hush'),
      JSON.stringify([options, env]),
    );
});

test('connect: who asks: options, else the environment, which is about one agent only', () => {
  const env = { AGENT_ID: 'alice', AGENT_TYPE: 'codex', SESSION_ID: 's1' };
  const who = (options: ConnectOptions) => chooseTarget(options, env).identity;
  const alice = { agent_id: 'alice', agent_type: 'codex', session_id: 's1' };
  assert.deepEqual(who({}), alice);
  assert.deepEqual(who({ url: 'http://a' }), alice);
  assert.deepEqual(who({ agent_id: 'alice', session_id: 's2' }), { ...alice, session_id: 's2' });
  assert.deepEqual(who({ agent_id: 'bob' }), { agent_id: 'bob' });
  assert.deepEqual(who({ url: 'http://a', session_token: 'coxs_x' }), {});
});

test('connect: a token says whose it is, a key leaves it open; each client is a session of its own', async () => {
  const session_token = sessionToken({ agent_id: 'alice', session_id: 's1' }, 'secret');
  await using bearer = await connect({ url: 'http://localhost:1', session_token });
  assert.deepEqual(bearer.actor, { agent_id: 'alice', session_id: 's1' });
  for (const strange of ['coxs_x.y', 'coxs_.', 'x', `coxs_${Buffer.from('{}').toString('base64url')}.y`])
    assert.deepEqual(tokenActor(`Bearer ${strange}`), {});
  await using one = await connect({ url: 'http://localhost:1', api_key: 'k' });
  await using two = await connect({ url: 'http://localhost:1', api_key: 'k' });
  assert.deepEqual([one.actor.agent_id, two.actor.agent_id], [undefined, undefined]);
  assert.notEqual(one.actor.session_id, two.actor.session_id);
});
