import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Asked, type Model, startModel } from './model.ts';
import { type Place, programs } from './place.ts';
import { family, kill } from './processes.ts';
import type { Client } from './vendors/client.ts';
import type { ToolCall } from './wires/wire.ts';

const ANSWER_MS_MAX = 45_000;

/** What the model is shown after a tool call. */
export interface Heard {
  readonly result: string;
  /** With all that hooks added. */
  readonly text: string;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A real client at work on one prompt; the test is its model. Between calls it waits for the model, alive. */
export class Turn implements AsyncDisposable {
  readonly #model: Model;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #output = '';
  #asked: Asked | undefined;

  static async start(client: Client, place: Place): Promise<Turn> {
    const model = await startModel(client.wire);
    const turn = new Turn(client, place, model);
    try {
      turn.#asked = await turn.#next();
      return turn;
    } catch (error) {
      await turn[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(client: Client, place: Place, model: Model) {
    this.#model = model;
    this.#child = spawn(join(programs, client.program), client.words(model.url), {
      cwd: place.repo,
      env: { ...place.env, ...client.environment(model.url) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#closed = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => {
        this.#output += chunk;
      });
  }

  /** What the model was sent first. */
  get opening(): string {
    return this.#open().text;
  }

  /** The model calls these tools, one after the other. Answers what the last one came to. */
  async call(...calls: readonly ToolCall[]): Promise<Heard> {
    for (const call of calls) {
      this.#open().answer(call);
      this.#asked = await this.#next();
    }
    const { results, text } = this.#open();
    return { result: results.at(-1) ?? '', text };
  }

  /** The model is done, and so is the client. */
  async end(): Promise<Ended> {
    this.#open().answer();
    await within(this.#closed, 'the client did not end', () => this.#output);
    return { code: this.#child.exitCode, output: this.#output };
  }

  /** kill -9 of the client alone, or of all that it has started as well. */
  async kill(which: 'client' | 'all'): Promise<void> {
    const running = family(this.#child.pid ?? 0);
    const gone = once(this.#child, 'exit');
    kill(which === 'all' ? running : running.filter(({ command }) => !isServer(command)));
    await within(gone, 'the client did not die', () => this.#output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode, stdout, stderr } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) kill(family(pid));
    // Another process that has them open must not keep the test alive.
    stdout?.destroy();
    stderr?.destroy();
    await this.#model[Symbol.asyncDispose]();
  }

  #open(): Asked {
    if (this.#asked === undefined) throw new Error('the client has not asked the model');
    return this.#asked;
  }

  async #next(): Promise<Asked> {
    const gone = this.#closed.then(() => {
      throw new Error(`the client ended instead of asking the model:\n${this.#output}`);
    });
    gone.catch(() => {});
    const asked = Promise.race([this.#model.asked(), gone]);
    return within(asked, 'the client did not ask the model', () => this.#output);
  }
}

function isServer(command: string): boolean {
  return / mcp( |$)/.test(command) && command.includes('--client');
}

async function within<T>(promise: Promise<T>, complaint: string, said: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} in time:\n${said()}`)), ANSWER_MS_MAX);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A command of the client that asks no model. */
export async function ask(client: Client, place: Place, words: readonly string[]): Promise<string> {
  await using model = await startModel(client.wire);
  const { stdout, stderr } = await promisify(execFile)(join(programs, client.program), words, {
    cwd: place.repo,
    env: { ...place.env, ...client.environment(model.url) },
    timeout: ANSWER_MS_MAX,
  });
  return stdout + stderr;
}
