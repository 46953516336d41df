import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { finished, start } from '../../transports/support.ts';
import { certificate, run, secureServer, startProxy, webServer } from './support.ts';

const CURL = ['-sS', '--max-time', '20', '-w', '\n%{http_code} %{http_connect}'];

/** Body, status of the server, status of the proxy. */
async function curl(env: Record<string, string>, ...args: string[]) {
  const { code, out, err } = await run('curl', [...CURL, ...args], env);
  const [, body = '', status, connect] = /^(.*)\n(\d+) (\d+)$/s.exec(out) ?? [];
  const json = body.startsWith('{') ? (JSON.parse(body) as JsonObject) : {};
  return { code, err, body, json, status: Number(status), connect: Number(connect) };
}

test('[NET-4] [NET-2] curl over HTTPS_PROXY: an allowed name is reached, a blocked one is not, and both are logged', async () => {
  using tls = certificate('ok.test', 'blocked.test');
  await using server = await secureServer(tls);
  await using proxy = await startProxy([`ok.test:${server.port}`, `127.0.0.1:${server.port}`]);
  const env = { HTTPS_PROXY: proxy.url };
  const reached = await curl(env, '--cacert', tls.file, `https://ok.test:${server.port}/path?q=1`);
  assert.deepEqual([reached.code, reached.status, reached.connect], [0, 200, 200], reached.err);
  assert.equal(reached.json.url, '/path?q=1');
  const stopped = await curl(env, '--cacert', tls.file, `https://blocked.test:${server.port}/`);
  assert.deepEqual([stopped.code, stopped.connect], [56, 403], stopped.err);
  assert.equal(server.requests.length, 1, 'the blocked one never got there');
  assert.deepEqual(proxy.resolved, ['ok.test'], 'and was not even looked up');
  assert.deepEqual(await proxy.attempts(), [
    `ok.test:${server.port} allowed`,
    `blocked.test:${server.port} blocked! not_listed`,
  ]);
});

test('[NET-4] curl over http_proxy: forwarded, or answered by the proxy with what to do about it', async () => {
  await using server = await webServer();
  await using proxy = await startProxy([`ok.test:${server.port}`, `127.0.0.1:${server.port}`]);
  const env = { http_proxy: proxy.url };
  const at = (name: string) => `http://${name}:${server.port}/a?b=1`;
  const reached = await curl(env, '-H', 'X-Mine: 1', '-d', 'some body', at('ok.test'));
  assert.deepEqual([reached.code, reached.status], [0, 200], reached.err);
  assert.deepEqual(
    [reached.json.method, reached.json.url, reached.json.body],
    ['POST', '/a?b=1', 'some body'],
  );
  const headers = (reached.json.headers as string[]).map((each) => each.toLowerCase());
  assert.ok(
    headers.includes('x-mine') && headers.includes(`ok.test:${server.port}`) && headers.includes('via'),
  );
  assert.ok(!headers.some((each) => each.startsWith('proxy-')), 'what is for the proxy stays here');
  const stopped = await curl(env, at('blocked.test'));
  assert.equal(stopped.status, 403);
  assert.deepEqual(
    [stopped.json.success, stopped.json.error, stopped.json.domain],
    [false, 'domain_blocked', 'blocked.test'],
  );
  assert.ok(typeof stopped.json.message === 'string' && typeof stopped.json.remedy === 'string');
  // A large body is no reason not to see the answer.
  const large = join(mkdtempSync(join(tmpdir(), 'cox-body-')), 'large');
  writeFileSync(large, Buffer.alloc(3_000_000));
  const refused = await curl(env, '-H', 'Expect:', '--data-binary', `@${large}`, at('blocked.test'));
  rmSync(large);
  assert.deepEqual([refused.code, refused.status], [0, 403], refused.err);
  const chunked = await curl(env, '-H', 'Transfer-Encoding: chunked', '-d', 'in pieces', at('ok.test'));
  assert.deepEqual([chunked.status, chunked.json.body], [200, 'in pieces']);
  const head = await curl(env, '-I', at('ok.test'));
  assert.deepEqual([head.code, head.status], [0, 200]);
});

test('[NET-4] no way round by another spelling: the same name in every way, and addresses in none', async () => {
  await using server = await webServer();
  const { port } = server;
  await using proxy = await startProxy(
    [`ok.test:${port}`, `xn--bcher-kva.test:${port}`, `127.0.0.2:${port}`],
    {
      addresses: { 'ok.test': ['127.0.0.1'] },
    },
  );
  // Without a locale curl would not turn ü into punycode.
  const env = { http_proxy: proxy.url, LC_ALL: 'C.UTF-8' };
  const status = async (host: string) => (await curl(env, '--globoff', `http://${host}:${port}/`)).status;
  for (const host of [
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'sub.ok.test',
  ])
    assert.equal(await status(host), 403, host);
  // Allowed by its name, and yet it leads to an address that is not.
  assert.equal(await status('ok.test'), 403);
  assert.deepEqual((await proxy.attempts()).at(-1), `ok.test:${port} blocked! special_address`);
  await proxy.allow(`ok.test:${port}`, `xn--bcher-kva.test:${port}`, `127.0.0.1:${port}`);
  for (const host of [
    'ok.test',
    'OK.Test',
    'ok.test.',
    'bücher.test',
    'BÜCHER.test',
    'xn--bcher-kva.test',
    '127.0.0.1',
  ])
    assert.equal(await status(host), 200, host);
  assert.equal(
    (await curl(env, `http://ok.test:${port === 8080 ? 8081 : 8080}/`)).status,
    403,
    'another port',
  );
});

test('[NET-4] a handshake for another server than the one that was asked for does not get through', async () => {
  using tls = certificate('ok.test', 'hidden.test');
  await using server = await secureServer(tls);
  await using proxy = await startProxy([
    `ok.test:${server.port}`,
    `hidden.test:${server.port}`,
    `127.0.0.1:${server.port}`,
  ]);
  const target = `ok.test:${server.port}`;
  const via = `hidden.test:${server.port}:${target}`;
  const fronted = await curl(
    { HTTPS_PROXY: proxy.url },
    '--cacert',
    tls.file,
    '--connect-to',
    via,
    `https://hidden.test:${server.port}/`,
  );
  assert.notEqual(fronted.code, 0);
  assert.equal(fronted.connect, 200, 'the tunnel itself was for an allowed name');
  assert.equal(server.requests.length, 0);
  assert.deepEqual(await proxy.attempts(), [`${target} allowed`, `${target} blocked! other_server_name`]);
});

test('[NET-4] npm finds its registry through the proxy, and none that is not allowed', async () => {
  using tls = certificate('registry.test');
  const folder = mkdtempSync(join(tmpdir(), 'cox-npm-'));
  const answer: Parameters<typeof webServer>[0] = (request, response) => {
    const isPing = request.url?.startsWith('/-/ping') === true;
    const found = {
      name: 'left',
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': { name: 'left', version: '1.2.3' } },
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isPing ? {} : found));
  };
  await using plain = await webServer(answer);
  await using secure = await secureServer(tls, answer);
  const ports = [plain.port, secure.port];
  await using proxy = await startProxy(
    ports.flatMap((port) => [`registry.test:${port}`, `127.0.0.1:${port}`]),
  );
  const env = {
    HOME: folder,
    http_proxy: proxy.url,
    https_proxy: proxy.url,
    npm_config_cache: join(folder, 'cache'),
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
    NODE_EXTRA_CA_CERTS: tls.file,
  };
  const npm = (url: string, ...args: string[]) => run('npm', [...args, '--registry', url], env);
  try {
    for (const url of [`http://registry.test:${plain.port}/`, `https://registry.test:${secure.port}/`]) {
      const ping = await npm(url, 'ping');
      assert.equal(ping.code, 0, ping.err);
      const view = await npm(url, 'view', 'left', 'version');
      assert.deepEqual([view.code, view.out.trim()], [0, '1.2.3'], view.err);
    }
    const stopped = await npm(`https://evil.test:${secure.port}/`, 'ping');
    assert.notEqual(stopped.code, 0);
    assert.ok((await proxy.attempts()).includes(`evil.test:${secure.port} blocked! not_listed`));
    assert.equal(proxy.resolved.includes('evil.test'), false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('[NET-4] cox proxy as a command: for one agent or by key, stopped by a signal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-proxy-'));
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, '127.0.0.1 pypi.org # for this test\n');
  const store = `sqlite:${join(folder, 'cox.db')}`;
  const begin = async (...args: string[]) => {
    const all = ['proxy', '--store', store, '--json', '--hosts-file', hosts, ...args];
    const child = start(all, { cwd: folder, env: { COORDINATION_API_KEYS: 'service-key' } });
    const ended = finished(child);
    const line = await new Promise<string>((resolve) => child.stdout?.once('data', resolve));
    return { child, ended, url: String((JSON.parse(line) as JsonObject).url) };
  };
  try {
    const fixed = await begin('--agent', 'alice', '--agent-type', 'codex_cloud');
    const stopped = await curl({ http_proxy: fixed.url }, 'http://pypi.org/');
    assert.deepEqual(
      [stopped.status, stopped.json.error, stopped.json.policy],
      [403, 'domain_blocked', 'coordination_only'],
    );
    fixed.child.kill('SIGINT');
    assert.deepEqual([(await fixed.ended).code], [0]);

    const keyed = await begin();
    const unknown = await curl({ http_proxy: keyed.url }, 'http://pypi.org/');
    assert.deepEqual([unknown.status, unknown.json.error], [407, 'unauthorized']);
    const address = keyed.url.replace('://', '://bob:service-key@');
    const rebound = await curl({ http_proxy: address }, 'http://pypi.org/');
    assert.deepEqual(
      [rebound.status, rebound.json.why, rebound.json.address],
      [403, 'special_address', '127.0.0.1'],
    );
    keyed.child.kill('SIGTERM');
    assert.equal((await keyed.ended).code, 0);

    const log = start(['network', 'log', '--store', store, '--json'], { cwd: folder });
    const { attempts } = JSON.parse((await finished(log)).out) as { attempts: JsonObject[] };
    assert.deepEqual(
      attempts.map(({ agent_id, domain, allowed, alert }) => [agent_id, domain, allowed, alert]),
      [
        ['bob', 'pypi.org', false, true],
        ['alice', 'pypi.org', false, true],
      ],
    );
    for (const args of [
      ['--host', '0.0.0.0', '--agent', 'a'],
      ['--port', 'x'],
      ['--agent-type', 't'],
      ['--hosts-file', join(folder, 'none')],
    ]) {
      const refused = await finished(start(['proxy', '--store', store, '--json', ...args], { cwd: folder }));
      assert.deepEqual(
        [refused.code, (JSON.parse(refused.out) as JsonObject).error],
        [2, 'invalid_input'],
        args.join(' '),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
