import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listNetworkAccess } from '../../../src/features/network/operations/network-operations.ts';
import { setNetworkPolicy } from '../../../src/features/network/operations/network-policy-operations.ts';
import { createProxy, type ProxyOptions } from '../../../src/features/network/proxy/proxy.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';

export interface LocalServer extends AsyncDisposable {
  readonly port: number;
  readonly requests: IncomingMessage[];
}

async function listening(server: Server, requests: IncomingMessage[] = []): Promise<LocalServer> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Says what it was asked for, unless told otherwise. */
const echo: RequestListener = (request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ method: request.method, url: request.url, headers: request.rawHeaders, body }),
    );
  });
};

export async function webServer(answer: RequestListener = echo): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  return await listening(server, requests);
}

/** Whatever does not speak HTTP properly, or at all. */
export async function rawServer(onConnection: (socket: Socket) => void): Promise<LocalServer> {
  const { createServer: createRaw } = await import('node:net');
  return await listening(
    createRaw((socket) => {
      socket.on('error', () => {});
      onConnection(socket);
    }),
  );
}

export interface Certificate extends Disposable {
  readonly file: string;
  readonly key: string;
}

export function certificate(...names: string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'cox-tls-'));
  const [file, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = [
    '-subj',
    '/CN=test',
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
  ];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      file,
      ...subject,
    ],
    { stdio: 'ignore' },
  );
  return { file, key, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function secureServer(of: Certificate, answer: RequestListener = echo): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server = createSecureServer(
    { cert: readFileSync(of.file), key: readFileSync(of.key) },
    (request, response) => {
      requests.push(request);
      answer(request, response);
    },
  );
  return await listening(server, requests);
}

export interface TestProxy extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly coxswain: Coxswain;
  /** The names that were looked up. */
  readonly resolved: string[];
  /** What the log says was tried, oldest first: `ok.test:80 allowed`. */
  attempts(): Promise<string[]>;
  rows(): Promise<JsonObject[]>;
  allow(...entries: string[]): Promise<void>;
}

/** A proxy on a store of its own for one agent of the default profile; every name leads to this machine. */
export async function startProxy(
  allow: readonly string[],
  options: Partial<ProxyOptions> & { addresses?: Record<string, string[]>; store?: string } = {},
): Promise<TestProxy> {
  const coxswain = await open({ store: options.store ?? 'memory:', env: {}, cwd: tmpdir() });
  const person = coxswain.connect({ agent_id: 'person:root', agent_type: 'person' }, 'person', {
    shows: 'never',
  });
  const resolved: string[] = [];
  const proxy = createProxy(coxswain, {
    settings: { default: 'deny', coordination: [] },
    agent: { agent_id: 'alice', agent_type: 'tester' },
    resolve: async (name) => {
      resolved.push(name);
      return options.addresses?.[name] ?? ['127.0.0.1'];
    },
    ...options,
    times: { drain_ms: 200, ...options.times },
  });
  const port = await proxy.listen('127.0.0.1', 0);
  const set = async (...entries: string[]) => {
    await person.performBuilt(setNetworkPolicy, {
      name: 'configurable',
      allow: entries,
      deny: [],
      default: 'deny',
    });
  };
  await set(...allow);
  const rows = async () => {
    const { attempts } = await person.performBuilt(listNetworkAccess, { limit: 100 });
    return (attempts as JsonObject[]).toReversed();
  };
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    coxswain,
    resolved,
    rows,
    attempts: async () =>
      (await rows()).map(
        ({ domain, port: at, allowed, alert, why }) =>
          `${domain}:${at} ${allowed === true ? 'allowed' : `blocked${alert === true ? '!' : ''} ${why}`}`,
      ),
    allow: set,
    async [Symbol.asyncDispose]() {
      await proxy.stop();
      await coxswain.close();
    },
  };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** With nothing of the surroundings in its environment but where programs are. */
export async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  return await new Promise((resolve) => {
    const all = { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...env };
    execFile(command, args, { env: all, timeout: 60_000 }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
  });
}

/** What comes back for these bytes until the connection is closed. */
export async function say(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  let heard = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    heard += part;
  });
  socket.write(text);
  await once(socket, 'close');
  return heard;
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}
