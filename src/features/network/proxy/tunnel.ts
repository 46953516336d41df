import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hostOf } from '../settings/host.ts';
import { readHello } from './client-hello.ts';

/** More than any handshake takes: in ever smaller pieces it would only cost, and hide. */
const FIRST_BYTES_MAX = 20_000;
const UNREADABLE = '(unreadable)';

/** Joins two connections until both have said all. Answers the other name that the handshake asks for, if it does. */
export async function tunnel(
  client: Duplex,
  upstream: Socket,
  head: Buffer,
  host: string,
): Promise<string | undefined> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const endBoth = () => {
    client.destroy();
    upstream.destroy();
    resolve();
  };
  for (const side of [client, upstream]) {
    side.once('error', endBoth);
    side.once('close', endBoth);
  }
  upstream.pipe(client);
  if (head.length > 0) client.unshift(head);
  const first = await firstBytes(client);
  const other = otherName(first, host);
  if (other !== undefined) endBoth();
  else {
    upstream.write(first);
    client.pipe(upstream);
  }
  await done;
  return other;
}

/** What the client says first, as far as it takes to know whom it wants; a client that waits for the server says nothing. */
async function firstBytes(client: Duplex): Promise<Buffer> {
  return await new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const enough = () => {
      client.off('data', take).off('end', enough).off('close', enough);
      client.pause();
      resolve(bytes);
    };
    const take = (part: Buffer) => {
      bytes = Buffer.concat([bytes, part]);
      if (bytes.length > FIRST_BYTES_MAX || readHello(bytes).is !== 'more') enough();
    };
    client.on('data', take).once('end', enough).once('close', enough);
  });
}

function otherName(first: Buffer, host: string): string | undefined {
  const hello = readHello(first);
  if (hello.is === 'not_tls' || first.length === 0) return undefined;
  // A handshake that is broken, or never ends: the server may be less particular, so it does not get to see it.
  if (hello.is !== 'tls') return UNREADABLE;
  if (hello.server_name === undefined) return undefined;
  const read = hostOf(hello.server_name);
  return read.ok && read.host === host ? undefined : hello.server_name;
}
