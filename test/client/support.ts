import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type Scratch, start } from '../transports/support.ts';

export const KEY = 'test-key';

export interface Server extends AsyncDisposable {
  readonly url: string;
}

/** `cox serve` as a process, for callers that have the key. */
export async function serve({ folder, store }: Scratch, port = '0'): Promise<Server> {
  const env = { COORDINATION_API_KEYS: KEY, API_RATE_LIMIT: '0' };
  const child = start(['serve', '--port', port, '--store', store, '--json'], { cwd: folder, env });
  const [line] = (await once(child.stdout?.setEncoding('utf8') as NodeJS.ReadableStream, 'data')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Something that answers as it is told, and is no Coxswain. */
export async function pretend(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a proxy does to one connection: it passes everything on, or breaks off at some point. */
export type Fate = 'passes' | 'loses the request' | 'loses the answer';

export interface Proxy extends Server {
  /** The connections that came in so far. */
  readonly connections: number;
}

/** Between a client and a server: each new connection meets the next fate; after the last, all pass. */
export async function proxy(to: Server, fates: Fate[]): Promise<Proxy> {
  const { hostname, port } = new URL(to.url);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((near) => {
    const fate = fates[connections] ?? 'passes';
    connections += 1;
    const far = connect({ host: hostname, port: Number(port) });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('data', (chunk) => (fate === 'loses the request' ? near.resetAndDestroy() : far.write(chunk)));
    // By the time there is an answer it is on the server's disk.
    far.on('data', (chunk) => (fate === 'loses the answer' ? near.resetAndDestroy() : near.write(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port on which no program listens. */
export async function deadUrl(): Promise<string> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
