import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { type Hello, readHello } from '../../../src/features/network/proxy/client-hello.ts';

/** The first message of Node's own TLS, as it would go over the wire. */
async function helloOf(servername: string | undefined): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const wire = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      resolve(bytes);
      done();
    },
  });
  const socket = connect({ socket: wire, ...(servername === undefined ? {} : { servername }) });
  socket.on('error', () => {});
  const sent = await promise;
  socket.destroy();
  wire.destroy();
  return sent;
}

const tls = (server_name: string | undefined): Hello => ({ is: 'tls', server_name });

/** The same handshake in records of that many bytes. */
function inRecordsOf(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

test('[NET-4] the server name of a handshake is read, however it is cut into pieces', async () => {
  const hello = await helloOf('ok.test');
  assert.deepEqual(readHello(hello), tls('ok.test'));
  assert.deepEqual(readHello(await helloOf(undefined)), tls(undefined));
  for (let length = 0; length < hello.length; length += 1)
    assert.deepEqual(readHello(hello.subarray(0, length)), { is: 'more' }, `${length} bytes`);
  for (const size of [1, 7, 100])
    assert.deepEqual(readHello(inRecordsOf(hello, size)), tls('ok.test'), `records of ${size}`);
  assert.deepEqual(readHello(Buffer.concat([hello, Buffer.from([20, 3, 3, 0, 1, 1])])), tls('ok.test'));
});

test('[NET-4] what is no handshake is told from one that is broken', async () => {
  assert.deepEqual(readHello(Buffer.from('GET / HTTP/1.1\r\n\r\n')), { is: 'not_tls' });
  assert.deepEqual(readHello(Buffer.from('SSH-2.0-x\r\n')), { is: 'not_tls' });
  const hello = await helloOf('ok.test');
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(hello);
    copy[at] = value;
    return readHello(copy).is;
  };
  assert.equal(changed(1, 9), 'broken', 'the version of the record');
  assert.equal(changed(5, 2), 'broken', 'another message');
  assert.equal(changed(6, 0xff), 'broken', 'longer than any');
  assert.deepEqual(readHello(Buffer.from([22, 3, 1, 0, 0])), { is: 'broken' }, 'an empty record');
  assert.deepEqual(
    readHello(Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])),
    { is: 'broken' },
    'an empty message',
  );
});

test('[NET-4] two server names are one too many', () => {
  const name = (text: string) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from([0, bytes.length >> 8, bytes.length]), bytes]);
  };
  const sized = (content: Buffer) =>
    Buffer.concat([Buffer.from([content.length >> 8, content.length & 0xff]), content]);
  const extension = (...names: string[]) =>
    Buffer.concat([Buffer.from([0, 0]), sized(sized(Buffer.concat(names.map(name))))]);
  const hello = (...extensions: Buffer[]) => {
    const body = Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.alloc(32),
      Buffer.from([0, 0, 2, 0x13, 0x01, 1, 0]),
      sized(Buffer.concat(extensions)),
    ]);
    return Buffer.concat([Buffer.from([22, 3, 1]), sized(Buffer.concat([Buffer.from([1, 0]), sized(body)]))]);
  };
  assert.deepEqual(readHello(hello(extension('ok.test'))), tls('ok.test'));
  assert.deepEqual(readHello(hello(extension('ok.test'), extension('evil.test'))), { is: 'broken' });
  assert.deepEqual(readHello(hello(extension('ok.test', 'evil.test'))), { is: 'broken' });
});

test('[NET-4] whatever bytes come, reading them ends', async () => {
  const hello = await helloOf('ok.test');
  const flips = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 5 });
  fc.assert(
    fc.property(flips, fc.uint8Array({ maxLength: 300 }), (changes, noise) => {
      const copy = Buffer.from(hello);
      for (const [at, value] of changes) copy[at] = value;
      for (const bytes of [copy, Buffer.from(noise), Buffer.from([22, 3, 1, 1, 0, ...noise])])
        assert.match(readHello(bytes).is, /^(more|not_tls|broken|tls)$/);
    }),
    { numRuns: 3000 },
  );
});
