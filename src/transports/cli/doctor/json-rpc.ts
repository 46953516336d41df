import { type ChildProcess, spawn } from 'node:child_process';
import { endGroup, gist } from '../../../child-process/bounded-child.ts';
import type { JsonObject } from '../../../kernel/json.ts';

const LINE_CHARS_MAX = 4_000_000;

/** A program that speaks JSON-RPC line by line, like MCP servers and Codex's app server. */
export class JsonRpcProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: JsonObject) => void>();
  readonly #ended: Promise<never>;
  readonly #closed: Promise<void>;
  #next = 1;
  #err = '';

  constructor(
    command: string,
    args: readonly string[],
    options: { cwd: string; env: NodeJS.ProcessEnv; limit_ms: number },
  ) {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      detached: process.platform !== 'win32',
    });
    this.#child = child;
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).slice(-LINE_CHARS_MAX).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#err = (this.#err + text).slice(-4096);
    });
    child.stdin?.on('error', () => {});
    this.#closed = new Promise((resolve) =>
      child.once('close', () => resolve()).once('error', () => resolve()),
    );
    this.#ended = new Promise((_, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer within ${options.limit_ms / 1000} s`)),
        options.limit_ms,
      );
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(timer);
        reject(new Error(gist(this.#err) || `it ended with code ${code}`));
      });
    });
    // A pending request reports the failure. Between two requests there is no caller to report it to.
    this.#ended.catch(() => {});
  }

  #receive(line: string): void {
    try {
      const message = JSON.parse(line) as JsonObject;
      if (typeof message.id === 'number' && message.method === undefined)
        this.#waiting.get(message.id)?.(message);
    } catch {}
  }

  tell(method: string, params: JsonObject = {}): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  async ask(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const id = this.#next++;
    const answered = new Promise<JsonObject>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { result, error } = await Promise.race([answered, this.#ended]);
    if (error !== undefined)
      throw new Error(String((error as JsonObject | null)?.message ?? JSON.stringify(error)));
    return (result ?? {}) as JsonObject;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    const timer = setTimeout(() => endGroup(this.#child), 3_000);
    await this.#closed;
    clearTimeout(timer);
  }
}
