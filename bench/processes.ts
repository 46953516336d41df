/** The product and its baselines as processes, as their users start them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const COX = here('../bin/cox');
/** Nothing but the start of Node. */
export const EMPTY = here('baselines/empty.cjs');
export const NOOP_MCP = here('baselines/noop-mcp.ts');
export const EMPTY_HTTP = here('baselines/empty-http.ts');

export const API_KEY = 'bench-key-0123456789abcdef';

/** From here on `COX` is what the package has, not the sources. */
export function buildCox(): void {
  execFileSync(process.execPath, [here('../scripts/build-cox.ts'), '--if-old'], { stdio: 'inherit' });
}

/** The command line as the package has it: without sources that it could be older than. */
export async function installedCox(bench: Bench): Promise<string> {
  buildCox();
  const folder = await bench.cleanup.tempDir('installed');
  for (const name of ['bin', 'package.json'])
    cpSync(here(`../${name}`), join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'dist'));
  for (const name of readdirSync(here('../dist')))
    if (name.startsWith('cox')) cpSync(here(`../dist/${name}`), join(folder, 'dist', name));
  symlinkSync(here('../node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin', 'cox');
}

export function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  // COX_BUNDLE=off: the sources instead, to compare.
  const { PATH, HOME, TMPDIR, COX_BUNDLE } = process.env;
  return { PATH, HOME, TMPDIR, COX_BUNDLE, ...extra };
}

function start(bench: Bench, args: readonly string[], cwd: string, env = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd,
    env: environment(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  bench.cleanup.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

/** A server that says on its first line where it listens. */
export async function startServer(bench: Bench, args: readonly string[], cwd: string) {
  const child = start(bench, args, cwd, { COORDINATION_API_KEYS: API_KEY, API_RATE_LIMIT: '0' });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return { url: new URL(url), child, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface Reply {
  readonly id: number;
  readonly result?: { readonly structuredContent?: { readonly success?: boolean } };
  readonly error?: unknown;
}

/** An MCP client of a few lines: what is measured is the server. */
export class McpProcess {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #next = 1;

  constructor(bench: Bench, args: readonly string[], cwd: string) {
    this.child = start(bench, args, cwd);
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const reply = JSON.parse(line) as Reply;
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    });
  }

  request(method: string, params: object): Promise<Reply> {
    const id = this.#next++;
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async initialise(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  async call(name: string, input: object): Promise<void> {
    const { result, error } = await this.request('tools/call', { name, arguments: input });
    if (error !== undefined || result?.structuredContent?.success === false)
      throw new Error(`${name}: ${JSON.stringify(error ?? result)}`);
  }

  stop(): Promise<void> {
    return stop(this.child);
  }
}

/** Resident memory of a process, in MB. */
export function memory_mb({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kilobytes === undefined) throw new Error(`no memory of process ${pid}`);
  return Number(kilobytes) / 1024;
}
