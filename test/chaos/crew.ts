// What the chaos tests share: processes that can be stopped and killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';

/** `sqlite:cox.db` as a store in a folder. */
export function inFolder(store: string, folder: string): string {
  const colon = store.indexOf(':') + 1;
  return `${store.slice(0, colon)}${join(folder, store.slice(colon))}`;
}

/** A folder of its own, gone at the end of the block (`using`). */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'cox-chaos-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** All processes of a test agree on it: it runs faster than the real one from a common start. */
export function fastClock(base_ms: number, speed: number): Clock {
  return { ...systemClock, now_ms: () => Math.floor(base_ms + (Date.now() - base_ms) * speed) };
}

/** Starting Node costs more than the work these processes do; compiled code is kept from one to the next. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'cox-chaos-compiled') };
}

export interface Program {
  readonly child: ChildProcess;
  /** Its lines, as they come. */
  readonly lines: AsyncIterator<string>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

export function startProgram(file: string, options: JsonObject, through: readonly string[] = []): Program {
  const [command = '', ...args] = [
    ...through,
    process.execPath,
    // Another version of the product has programs of its own.
    isAbsolute(file) ? file : join(import.meta.dirname, file),
    JSON.stringify(options),
  ];
  const child = spawn(command, args, { env: environment(), stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // A killed reader of our lines is no fault of ours.
  child.stdin.on('error', () => {});
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, exited };
}

/** Ends a program as a client does that goes away, and insists that it ends well. */
export async function endProgram({ child, exited }: Program): Promise<void> {
  child.stdin?.end();
  const { code, signal, stderr } = await exited;
  if (code !== 0) throw new Error(`it ended with ${code ?? signal}: ${stderr}`);
}

export interface AgentOptions {
  readonly store: string;
  readonly agent_id: string;
  /** Runs time faster than it is, from `base_ms` on. */
  readonly clock?: { base_ms: number; speed: number };
  /** Lives long: may commit for the others on its file. */
  readonly sits?: boolean;
  /** Words put before the command line, such as `unshare -rm …`. */
  readonly through?: readonly string[];
}

/** An agent in a process of its own. */
export class Agent {
  readonly program: Program;

  constructor({ through, ...options }: AgentOptions) {
    this.program = startProgram('agent.ts', options as unknown as JsonObject, through);
  }

  get pid(): number {
    return this.program.child.pid ?? 0;
  }

  async call(operation: string, input: JsonObject = {}): Promise<JsonObject> {
    return (await this.timedCall(operation, input)).answer;
  }

  async timedCall(
    operation: string,
    input: JsonObject = {},
  ): Promise<{ answer: JsonObject; elapsed_ms: number }> {
    this.program.child.stdin?.write(`${JSON.stringify({ operation, input })}\n`);
    const { value, done } = await this.program.lines.next();
    if (done === true) throw new Error(`the agent ended: ${JSON.stringify(await this.program.exited)}`);
    return JSON.parse(value) as { answer: JsonObject; elapsed_ms: number };
  }

  signal(signal: NodeJS.Signals): void {
    this.program.child.kill(signal);
  }

  async close(): Promise<void> {
    await endProgram(this.program);
  }

  async kill(): Promise<void> {
    this.program.child.kill('SIGKILL');
    await this.program.exited;
  }

  /** However a test ends, its processes end with it. */
  [Symbol.dispose](): void {
    this.program.child.kill('SIGKILL');
  }
}

/** `--name value` from a command line; what it lacks is as in `defaults`. */
export function readOptions<T extends Record<string, string | number>>(defaults: T): T {
  const options: Record<string, string | number> = { ...defaults };
  const args = process.argv.slice(2);
  for (let index = 0; index < args.length; index += 2) {
    const name = (args[index] ?? '').replace(/^--/, '');
    const value = args[index + 1];
    if (!Object.hasOwn(defaults, name) || value === undefined)
      throw new Error(
        `expected ${Object.keys(defaults)
          .map((option) => `--${option} …`)
          .join(' ')}`,
      );
    options[name] = typeof defaults[name] === 'number' ? Number(value) : value;
  }
  return options as T;
}
