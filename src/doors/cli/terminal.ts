import type { JsonObject } from '../../kernel/json.ts';
import { verdictOf } from '../answer.ts';
import { renderAnswer, renderRefusal } from './render.ts';

/** Where a command reads its surroundings and writes its answer; tests bring their own. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly columns: number;
  /** Somebody looks at stderr: long work says how far it is. */
  readonly watched?: boolean;
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
}

let guarded = false;

export function processTerminal(): Terminal {
  if (!guarded) {
    guarded = true;
    // The callback of each write deals with it; without a listener Node would end the process.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  }
  return {
    env: process.env,
    cwd: process.cwd(),
    // Nothing is cut for a file or a pipe.
    columns: process.stdout.columns ?? 1000,
    watched: process.stderr.isTTY === true,
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
  };
}

/** A reader that went away (`| head`) is no error; a full disk behind `>` is. */
async function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    stream.write(text, resolve);
  });
  if (error && error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
}

export async function print(
  terminal: Terminal,
  answer: JsonObject,
  options: { json?: boolean | undefined; now_ms: number },
): Promise<void> {
  if (options.json === true) await terminal.out(`${jsonLine(answer)}\n`);
  else if (verdictOf(answer) === 'done')
    await terminal.out(renderAnswer(answer, terminal.columns, options.now_ms));
  else await terminal.err(renderRefusal(answer, terminal.columns, options.now_ms));
}

/** JSON leaves some characters as they are that a terminal obeys; escaped they mean the same to a parser. */
function jsonLine(answer: JsonObject): string {
  return JSON.stringify(answer).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
