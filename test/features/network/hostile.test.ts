import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createKey } from '../../../src/features/keys/operations.ts';
import { until } from '../../support/until.ts';
import { rawServer, say, startProxy, statusOf, webServer } from './support.ts';

const get = (target: string, ...headers: string[]) =>
  `GET ${target} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;

test('[NET-4] requests that are not what they seem are refused, and nothing of them arrives', async () => {
  await using server = await webServer();
  const { port } = server;
  await using proxy = await startProxy([`ok.test:${port}`, `127.0.0.1:${port}`]);
  const ok = `ok.test:${port}`;
  const table: [title: string, request: string, status: number][] = [
    ['an origin form', get('/', `Host: ${ok}`), 400],
    ['another host in Host', get(`http://${ok}/`, 'Host: evil.test'), 400],
    ['another port in Host', get(`http://${ok}/`, 'Host: ok.test:1'), 400],
    ['two Hosts', get(`http://${ok}/`, `Host: ${ok}`, 'Host: evil.test'), 400],
    ['the same Host twice', get(`http://${ok}/`, `Host: ${ok}`, `Host: ${ok}`), 400],
    ['no Host', get(`http://${ok}/`), 400],
    ['https without a tunnel', get('https://ok.test/', 'Host: ok.test'), 400],
    ['ftp', get('ftp://ok.test/', 'Host: ok.test'), 400],
    ['user information', get(`http://ok.test@evil.test:${port}/`, `Host: evil.test:${port}`), 403],
    ['a backslash', get(`http://ok.test\\@evil.test:${port}/`, `Host: ${ok}`), 400],
    ['a percent sign', get(`http://ok%2etest:${port}/`, `Host: ok%2etest:${port}`), 403],
    ['a fragment', get(`http://${ok}/#x`, `Host: ${ok}`), 400],
    ['TRACE', get(`http://${ok}/`, `Host: ${ok}`).replace('GET', 'TRACE'), 405],
    ['an unknown method', get(`http://${ok}/`, `Host: ${ok}`).replace('GET', 'BREW'), 400],
    ['a line break in the target', get(`http://${ok}/\r\nX: y`, `Host: ${ok}`), 400],
    ['no version', `GET http://${ok}/\r\nHost: ${ok}\r\n\r\n`, 400],
    ['CONNECT without a version', `CONNECT ${ok}\r\nHost: ${ok}\r\n\r\n`, 400],
    ['a bare line feed', `GET http://${ok}/ HTTP/1.1\nHost: ${ok}\n\n`, 400],
    ['a huge header', get(`http://${ok}/`, `Host: ${ok}`, `X: ${'x'.repeat(20_000)}`), 431],
    ['a huge target', get(`http://${ok}/${'x'.repeat(20_000)}`, `Host: ${ok}`), 431],
    [
      'length and chunks',
      get(`http://${ok}/`, `Host: ${ok}`, 'Content-Length: 3', 'Transfer-Encoding: chunked'),
      400,
    ],
    ['two lengths', get(`http://${ok}/`, `Host: ${ok}`, 'Content-Length: 3', 'Content-Length: 4'), 400],
    ['an odd encoding', get(`http://${ok}/`, `Host: ${ok}`, 'Transfer-Encoding: chunked, identity'), 400],
    ['a space before the colon', get(`http://${ok}/`, `Host: ${ok}`, 'Transfer-Encoding : chunked'), 400],
    ['CONNECT with a path', 'CONNECT ok.test:443/x HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['CONNECT without a port', 'CONNECT ok.test HTTP/1.1\r\nHost: ok.test\r\n\r\n', 400],
    ['CONNECT with a user', `CONNECT a@ok.test:${port} HTTP/1.1\r\nHost: ok.test\r\n\r\n`, 400],
    ['CONNECT to another port', 'CONNECT ok.test:22 HTTP/1.1\r\nHost: ok.test\r\n\r\n', 403],
    ['CONNECT to port 0', 'CONNECT ok.test:0 HTTP/1.1\r\nHost: ok.test\r\n\r\n', 403],
    ['CONNECT to a number', 'CONNECT 2130706433:443 HTTP/1.1\r\nHost: x\r\n\r\n', 403],
    ['CONNECT to IPv6', 'CONNECT [::ffff:7f00:1]:443 HTTP/1.1\r\nHost: x\r\n\r\n', 403],
    ['nonsense', 'nonsense\r\n\r\n', 400],
  ];
  for (const [title, request, status] of table)
    assert.equal(statusOf(await say(proxy.port, request)), status, title);
  assert.equal(server.requests.length, 0);
  const long = `POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 8000000\r\n\r\n${'x'.repeat(8_000_000)}`;
  assert.equal(statusOf(await say(proxy.port, long)), 403, 'the answer is heard by who is still speaking');
  const attempts = await proxy.attempts();
  assert.ok(attempts.includes(`${ok} blocked! other_server_name`), 'another Host is an attempt too');
  assert.equal(
    statusOf(await say(proxy.port, get(`http://${ok}`, `Host: ${ok}`))),
    200,
    'and a plain one passes',
  );
});

test('[NET-4] one request is one request on the other side, whatever its body looks like', async () => {
  let heard = '';
  await using server = await rawServer((socket) => {
    socket.setEncoding('latin1').on('data', (part: string) => {
      heard += part;
      if (heard.includes('0\r\n\r\n')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  const ok = `ok.test:${server.port}`;
  await using proxy = await startProxy([ok, `127.0.0.1:${server.port}`]);
  const smuggled = 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n';
  const body = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  const hidden = 'Connection: close, Content-Length, X-Secret';
  const head = `GET http://${ok}/ HTTP/1.1\r\nHost: ${ok}\r\nTransfer-Encoding: chunked\r\nX-Secret: 1\r\nUpgrade: h2c\r\n${hidden}\r\n\r\n`;
  assert.equal(statusOf(await say(proxy.port, head + body)), 204);
  const [headers = '', rest = ''] = heard.split(/\r\n\r\n(.*)/s);
  assert.match(headers, /\r\nTransfer-Encoding: chunked/);
  assert.match(headers, /\r\nConnection: close$/);
  assert.doesNotMatch(headers, /x-secret|upgrade/i);
  assert.equal(rest, body, 'the body is framed as it came');
  heard = '';
  const sized = `GET http://${ok}/ HTTP/1.1\r\nHost: ${ok}\r\nContent-Length: ${body.length}\r\nConnection: close, content-length\r\n\r\n`;
  assert.equal(statusOf(await say(proxy.port, sized + body)), 204);
  assert.match(
    heard,
    new RegExp(`\\r\\nContent-Length: ${body.length}\\r\\n`),
    'its length is not for the proxy alone',
  );
});

test('[NET-4] servers that misbehave end in an answer, never in the end of the proxy', async () => {
  const answers: [title: string, bytes: string, status: number][] = [
    ['nothing at all', '', 502],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 502],
    ['a line break in a header', 'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n', 502],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      502,
    ],
    ['an odd status', 'HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n', 502],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      502,
    ],
    ['control characters as reason', 'HTTP/1.1 200 \u0001\u007f\r\nContent-Length: 2\r\n\r\nok', 200],
    ['a second answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n', 200],
  ];
  for (const [title, bytes, status] of answers) {
    await using server = await rawServer((socket) => socket.once('data', () => socket.end(bytes, 'latin1')));
    await using proxy = await startProxy([`ok.test:${server.port}`, `127.0.0.1:${server.port}`]);
    const ok = `ok.test:${server.port}`;
    const answer = await say(proxy.port, get(`http://${ok}/`, `Host: ${ok}`));
    assert.equal(statusOf(answer), status, `${title}: ${answer}`);
    assert.doesNotMatch(answer, /\r\nSet-Cookie: b/i, title);
    assert.equal(
      statusOf(await say(proxy.port, get('/', 'Host: x'))),
      400,
      `after ${title} it still answers`,
    );
  }
});

test('[NET-4] nobody there: a tunnel and a request say so', async () => {
  const server = await webServer();
  const { port } = server;
  await server[Symbol.asyncDispose]();
  await using proxy = await startProxy([`ok.test:${port}`, `127.0.0.1:${port}`, 'gone.test'], {
    addresses: { 'gone.test': [] },
  });
  assert.equal(statusOf(await say(proxy.port, `CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)), 502);
  assert.equal(statusOf(await say(proxy.port, get('http://gone.test/', 'Host: gone.test'))), 502);
  assert.deepEqual(await proxy.attempts(), [`ok.test:${port} allowed`, 'gone.test:80 allowed']);
});

test('[NET-4] who dawdles is let go: over a head, a body that nobody wants, a tunnel, half closed', async () => {
  await using server = await rawServer((socket) => socket.resume());
  const { port } = server;
  await using proxy = await startProxy([`ok.test:${port}`, `127.0.0.1:${port}`], {
    times: { headers_ms: 300, idle_ms: 500 },
  });
  const slow = connect(proxy.port, '127.0.0.1').on('error', () => {});
  slow.resume().write('GET http://ok.te');
  const body = connect(proxy.port, '127.0.0.1').on('error', () => {});
  body.resume().write('POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 9\r\n\r\n');
  const silent = connect(proxy.port, '127.0.0.1').on('error', () => {});
  silent.write(`CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const [established] = (await once(silent, 'data')) as [Buffer];
  assert.match(String(established), /^HTTP\/1.1 200 /);
  const half = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  half.write(`CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(half, 'data');
  half.resume().end('not TLS');
  await Promise.all([slow, body, silent, half].map((socket) => once(socket, 'close')));
});

test('[NET-4] what is said in a tunnel arrives whole in both directions, also after one side has ended', async () => {
  await using server = await rawServer((socket) => {
    let heard = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      heard += part;
    });
    socket.on('end', () => socket.end(`heard ${heard.length}`));
    socket.allowHalfOpen = true;
    socket.write('hello first');
  });
  const { port } = server;
  await using proxy = await startProxy([`ok.test:${port}`, `127.0.0.1:${port}`]);
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
  let heard = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    heard += part;
  });
  socket.write(`CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(async () => heard.includes('hello first'));
  socket.end('x'.repeat(1_000_000));
  await once(socket, 'end');
  assert.match(heard, /heard 1000000$/);
});

test('[NET-4] a handshake that nobody can read does not get through', async () => {
  let heard = 0;
  await using server = await rawServer((socket) => {
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.length;
    });
  });
  const ok = `ok.test:${server.port}`;
  await using proxy = await startProxy([ok, `127.0.0.1:${server.port}`]);
  const ask = Buffer.from(`CONNECT ${ok} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const oneByOne = Buffer.concat([
    Buffer.from([22, 3, 1, 0, 4, 1, 0, 0x3f, 0xff]),
    ...new Array(5000).fill(Buffer.from([22, 3, 1, 0, 1, 0])),
  ]);
  for (const hello of [Buffer.from([22, 9, 9, 0, 1, 1]), Buffer.from([22, 3, 1, 0, 4, 9, 0, 0, 0]), oneByOne])
    assert.equal(statusOf(await say(proxy.port, Buffer.concat([ask, hello]))), 200);
  const cutOff = connect(proxy.port, '127.0.0.1').on('error', () => {});
  cutOff.write(ask);
  await once(cutOff, 'data');
  cutOff.resume().end(Buffer.from([22, 3, 1, 0, 200, 1]));
  await once(cutOff, 'close');
  const blocked = `${ok} blocked! other_server_name`;
  await until(async () => (await proxy.attempts()).filter((each) => each === blocked).length === 4);
  assert.equal(heard, 0);
});

test('[NET-4] one agent does not take all connections', async () => {
  await using server = await rawServer((socket) => socket.resume());
  const { port } = server;
  await using proxy = await startProxy([`ok.test:${port}`, `127.0.0.1:${port}`], { per_agent_max: 2 });
  const ask = `CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const held = [1, 2].map(() => connect(proxy.port, '127.0.0.1').on('error', () => {}));
  for (const socket of held) {
    socket.write(ask);
    await once(socket, 'data');
  }
  assert.equal(statusOf(await say(proxy.port, ask)), 429);
  for (const socket of held) socket.destroy();
  await until(
    async () => statusOf(await say(proxy.port, get(`http://evil.test/`, 'Host: evil.test'))) === 403,
  );
});

test('[NET-4] who asks is known by a key, and by nothing else', async () => {
  await using server = await webServer();
  const ok = `ok.test:${server.port}`;
  await using proxy = await startProxy([ok, `127.0.0.1:${server.port}`], { agent: undefined });
  const operator = proxy.coxswain.connect({ agent_id: 'root', agent_type: 'cli' }, 'operator', {
    shows: 'never',
  });
  const keyFor = async (input: object) => String((await operator.performBuilt(createKey, input)).key);
  const [agent, person] = [
    await keyFor({ agent: 'bob', agent_type: 'tester' }),
    await keyFor({ person: 'eve' }),
  ];
  const [service, web] = [
    await keyFor({ service: true }),
    await keyFor({ agent: 'web', agent_type: 'codex_cloud' }),
  ];
  const as = async (credentials: string | undefined) => {
    const basic =
      credentials === undefined
        ? []
        : [`Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}`];
    return await say(proxy.port, get(`http://${ok}/`, `Host: ${ok}`, ...basic));
  };
  const table: [string | undefined, number][] = [
    [undefined, 407],
    ['', 407],
    [':', 407],
    ['bob', 407],
    ['bob:wrong', 407],
    [`bob:${agent}`, 200],
    [`anything:${agent}`, 200],
    [agent, 200],
    [`${agent}:`, 200],
    [`carol:${service}`, 200],
    [service, 407],
    [`person:x:${service}`, 407],
    [`eve:${person}`, 407],
    [`web:${web}`, 403],
    [`bob:${web}`, 403],
  ];
  for (const [credentials, status] of table)
    assert.equal(statusOf(await as(credentials)), status, credentials);
  assert.match(await as(`eve:${person}`), /A person's key opens no proxy/);
  assert.match(await as(undefined), /\r\nproxy-authenticate: Basic/i);
  const raw = get(`http://${ok}/`, `Host: ${ok}`, 'Proxy-Authorization: Bearer x');
  assert.equal(statusOf(await say(proxy.port, raw)), 407);
  const tunnel = await say(proxy.port, `CONNECT ${ok} HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.equal(statusOf(tunnel), 407);
  const who = (await proxy.rows()).map(({ agent_id }) => agent_id);
  assert.deepEqual(who, ['bob', 'bob', 'bob', 'bob', 'carol', 'web', 'web']);
  const forwarded = server.requests[0]?.rawHeaders.join(' ') ?? '';
  assert.ok(!/proxy-authorization/i.test(forwarded), 'no key goes any further');
});

test('[NET-4] without a store nothing passes', async () => {
  await using server = await webServer();
  const folder = mkdtempSync(join(tmpdir(), 'cox-gone-'));
  const ok = `ok.test:${server.port}`;
  await using proxy = await startProxy([ok, `127.0.0.1:${server.port}`], {
    store: `sqlite:${join(folder, 'cox.db')}`,
  });
  assert.equal(statusOf(await say(proxy.port, get(`http://${ok}/`, `Host: ${ok}`))), 200);
  rmSync(folder, { recursive: true, force: true });
  const answer = await say(proxy.port, get(`http://${ok}/`, `Host: ${ok}`));
  assert.equal(statusOf(answer), 503, answer);
  assert.equal(statusOf(await say(proxy.port, `CONNECT ${ok} HTTP/1.1\r\nHost: x\r\n\r\n`)), 503);
  assert.equal(server.requests.length, 1);
});
