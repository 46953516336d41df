import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Terminal } from '../../src/transports/cli/output/terminal.ts';

const bin = fileURLToPath(new URL('../../bin/cox', import.meta.url));

export interface Scratch extends Disposable {
  readonly folder: string;
  readonly store: string;
}

/** A folder that is a workspace, and a store in it, both gone afterwards. */
export function scratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'cox-door-'));
  return {
    folder,
    store: `sqlite:${join(folder, 'store', 'cox.db')}`,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Nothing of the user who runs the tests: neither their store nor their identity nor their port allocations. */
function cleanEnv(cwd: string, extra: Record<string, string> = {}): Record<string, string> {
  const inherited = ['PATH', 'HOME', 'TMPDIR', 'SYSTEMROOT', 'NODE_COMPILE_CACHE', 'COX_BUNDLE'].flatMap(
    (name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    },
  );
  return { ...Object.fromEntries(inherited), COX_STATE_DIR: stateFolder(cwd), ...extra };
}

/** A named store is made by the first command that writes to it; for tests of commands that only look. */
export async function makeStore({ store, folder }: Scratch): Promise<void> {
  await (await open({ store, cwd: folder })).close();
}

export function stateFolder(folder: string): string {
  return join(folder, '.cox-state');
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** `node` is for a launcher that finds itself on another Node than ours, `out` an open file for its output. */
export function start(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string>; node?: string; out?: number },
): ChildProcess {
  return spawn(options.node ?? process.execPath, [bin, ...args], {
    cwd: options.cwd,
    env: cleanEnv(options.cwd, options.env),
    stdio: ['pipe', options.out ?? 'pipe', 'pipe'],
  });
}

export async function finished(child: ChildProcess): Promise<Finished> {
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, out, err };
}

/** A real process of its own. */
export async function cox(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string>; node?: string; out?: number; input?: string },
): Promise<Finished> {
  const child = start(args, options);
  child.stdin?.end(options.input ?? '');
  return await finished(child);
}

/** A terminal without a process, for many commands in a short time. */
export function fakeTerminal(cwd: string, env: Record<string, string> = {}) {
  const written = { out: '', err: '' };
  const terminal: Terminal = {
    env: { COX_STATE_DIR: stateFolder(cwd), ...env },
    cwd,
    columns: 120,
    out: async (text) => {
      written.out += text;
    },
    err: async (text) => {
      written.err += text;
    },
  };
  return { terminal, written };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: JsonObject;
}

type Headers = Record<string, string>;

export interface HttpDoor extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** With the service's key, unless the headers bring another one. */
  send(method: string, path: string, body?: string | Buffer, headers?: Headers): Promise<Reply>;
  post(path: string, body: unknown, headers?: Headers): Promise<Reply>;
  /** With nothing but what is given. */
  bare(method: string, path: string, body?: string | Buffer, headers?: Headers): Promise<Reply>;
}

/** A key that may name any agent. */
export const SERVICE_KEY = 'the-service-of-the-tests';

/** `cox serve` as a process on a free port. */
export async function startHttp(
  scratched: Scratch,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<HttpDoor> {
  const all = ['serve', '--port', '0', '--store', scratched.store, '--json', ...args];
  const keys = { COORDINATION_API_KEYS: SERVICE_KEY, API_RATE_LIMIT: '0' };
  const child = start(all, { cwd: scratched.folder, env: { ...keys, ...env } });
  const [line] = (await once(child.stdout?.setEncoding('utf8') as NodeJS.ReadableStream, 'data')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const agent = new HttpAgent({ keepAlive: true });
  const bare: HttpDoor['bare'] = (method, path, body, headers = {}) =>
    exchange(agent, url, method, path, body, headers);
  const send: HttpDoor['send'] = (method, path, body, headers = {}) => {
    const hasKey = 'x-api-key' in headers || 'authorization' in headers;
    return bare(method, path, body, hasKey ? headers : { 'x-api-key': SERVICE_KEY, ...headers });
  };
  return {
    url,
    child,
    send,
    bare,
    post: (path, body, headers = {}) =>
      send('POST', path, JSON.stringify(body), { 'content-type': 'application/json', ...headers }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

export function exchange(
  agent: HttpAgent,
  url: string,
  method: string,
  path: string,
  body: string | Buffer | undefined,
  headers: Record<string, string>,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      `${url}${path}`,
      { agent, method, headers: { ...length, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response;
          resolve({
            status,
            headers: received,
            text,
            body:
              received['content-type'] === 'application/json' ? (JSON.parse(text || '{}') as JsonObject) : {},
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export interface McpDoor extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  call(name: string, input: unknown): Promise<{ answer: JsonObject; isError: boolean; text: string }>;
}

/** `cox mcp` as a process, spoken to by the protocol's own client. */
export async function startMcp(
  scratched: Scratch,
  options: {
    env?: Record<string, string>;
    args?: readonly string[];
    name?: string;
    store?: string;
    modern?: boolean;
  } = {},
): Promise<McpDoor> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--store', options.store ?? scratched.store, ...(options.args ?? [])],
    cwd: scratched.folder,
    env: cleanEnv(scratched.folder, options.env),
    stderr: 'ignore',
  });
  const mode = options.modern === true ? ({ pin: '2026-07-28' } as const) : 'legacy';
  const client = new Client(
    { name: options.name ?? 'door-test', version: '1' },
    { versionNegotiation: { mode } },
  );
  await client.connect(transport);
  return {
    client,
    transport,
    async call(name, input) {
      const result = await client.callTool({ name, arguments: input as Record<string, unknown> });
      const [content] = result.content as { type: string; text: string }[];
      const answer = result.structuredContent as JsonObject;
      return { answer, isError: result.isError === true, text: content?.text ?? '' };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
