import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import { OutputFailure, verdictOf } from '../../../runtime/answer.ts';
import type { Machine } from '../../shared/ancestors.ts';
import type { View } from './layout.ts';
import { painter, wantsColour } from './paint.ts';
import type { Done } from './sentences.ts';

/** Where a command reads its environment and writes its answer; tests bring their own. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly columns: number;
  /** A person watches stderr: long work reports its progress. */
  readonly watched?: boolean;
  readonly rows?: number;
  /** The process ends with the command. */
  readonly ends?: boolean;
  /** Which of the two streams is a terminal. */
  readonly seen?: { readonly out: boolean; readonly err: boolean };
  /** Aborted when the reader of our output has gone. */
  readonly gone?: AbortSignal;
  /**
   * Asks the person at the terminal; undefined if no answer comes. Only present if there is a person to ask.
   */
  ask?(question: string): Promise<string | undefined>;
  /** Is this the controlling terminal of the process? Default: ask the system. */
  controlled?(): boolean;
  /** The processes of the machine; default: this machine. */
  readonly machine?: Machine;
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
}

let guarded = false;

export function processTerminal(): Terminal {
  if (!guarded) {
    guarded = true;
    // The callback of each write handles errors; without a listener Node would end the process.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  }
  const gone = new AbortController();
  const { stdout, stderr, env } = process;
  return {
    env,
    get cwd() {
      return currentFolder();
    },
    get columns() {
      return stdout.columns ?? pipeColumns(env);
    },
    get rows() {
      return stdout.rows ?? DEFAULT_ROWS;
    },
    seen: { out: stdout.isTTY === true, err: stderr.isTTY === true },
    watched: stderr.isTTY === true,
    ends: true,
    gone: gone.signal,
    out: (text) => write(stdout, text, () => gone.abort()),
    err: (text) => write(stderr, text, () => {}),
    // In this order: opening stdin takes 2 ms.
    ...(stdout.isTTY && process.stdin.isTTY ? { ask } : {}),
  };
}

/** Looked up only when needed: help and similar commands work without it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = 'The folder that this was started in is not there any more: change into one that is.';
    throw new StoreFailure('invalid_input', message, { cause, details: { field: 'cwd' } });
  }
}

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  return await new Promise((resolve) => {
    // Ctrl-C and Ctrl-D count as answers too.
    reader.on('SIGINT', () => reader.close());
    reader.on('close', () => resolve(undefined));
    reader.question(question, (answer) => {
      resolve(answer);
      reader.close();
    });
  });
}

const DEFAULT_ROWS = 24;

/** Nothing is cut for a file or a pipe, unless COLUMNS says how wide it is. */
function pipeColumns(env: NodeJS.ProcessEnv): number {
  const columns = Number(env.COLUMNS);
  return Number.isInteger(columns) && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** A reader that went away (`| head`) is not an error; a full disk behind `>` is. */
async function write(stream: NodeJS.WriteStream, text: string, onGone: () => void): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    stream.write(text, resolve);
  });
  if (!error) return;
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw new OutputFailure(error);
  onGone();
}

export async function print(
  terminal: Terminal,
  answer: JsonObject,
  options: { json?: boolean | undefined; color?: boolean | undefined; now_ms: number },
  about?: Done,
): Promise<void> {
  if (options.json === true) return await terminal.out(`${jsonLine(answer)}\n`);
  // A program that calls us does not need this module and should not wait for it.
  const { renderAnswer, renderRefusal } = await import('./render.ts');
  if (verdictOf(answer) === 'done')
    await terminal.out(renderAnswer(answer, viewOf(terminal, options, 'out'), about));
  else await terminal.err(renderRefusal(answer, viewOf(terminal, options, 'err')));
}

/** The width and colours of the output. */
export function viewOf(
  terminal: Terminal,
  options: { color?: boolean | undefined; now_ms: number },
  to: 'out' | 'err' = 'out',
): View {
  const colour = wantsColour(options.color, terminal.env, terminal.seen?.[to] === true);
  return { columns: terminal.columns, now_ms: options.now_ms, paint: painter(colour) };
}

/**
 * JSON leaves some control characters unescaped that a terminal obeys. Escaped, they mean the same to a
 * parser.
 */
export function jsonLine(answer: JsonObject): string {
  return JSON.stringify(answer).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
