import type { Socket } from 'node:net';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RefusalCode } from '../../../kernel/refusal.ts';
import { version } from '../../../kernel/version.ts';
import type { Command, Outcome } from '../../../ledger/decision.ts';
import { EVENT_SCHEMA, type Request, type Unplaced } from '../../../ledger/log.ts';
import { SCHEMA_EPOCH } from '../schema.ts';

/** Both ends must understand commands in the same way and have the same file open. */
export interface Hello {
  readonly build: string;
  readonly dev: number;
  readonly ino: number;
  /** Two time namespaces on one kernel would disagree about a deadline. */
  readonly machine_ms: number;
}

export interface Call {
  readonly call: number;
  /**
   * Machine time. After it the caller commits directly, and nothing may be committed for it here any more.
   */
  readonly not_after_ms: number;
  /** Time since the call began: a process's monotonic times mean nothing to another process. */
  readonly age_us: number;
  readonly request: Request;
  readonly command: Command;
}

export type ToSeat = { readonly hello: Hello } | Call | { readonly note: Unplaced };

export type FromSeat =
  | { readonly welcome: { readonly pid: number; readonly position: number } }
  | { readonly sorry: string }
  | { readonly call: number; readonly outcome: Outcome<JsonObject>; readonly position: number }
  | { readonly call: number; readonly failure: { readonly code: RefusalCode; readonly message: string } };

/** Two clock readings on one machine differ by less, even when one of the processes was kept waiting. */
export const CLOCKS_APART_MS_MAX = 1000;

/** Raised when the messages change, or the arguments of a command. */
const PROTOCOL = 3;

export function build(): string {
  return `${version()}/${SCHEMA_EPOCH}/${EVENT_SCHEMA}/${PROTOCOL}`;
}

const LINE_CHARS_MAX = 16_000_000;

export function send(socket: Socket, message: ToSeat | FromSeat): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** One JSON text per line. Anything else ends the connection: only our own processes talk here. */
export function onMessage<M>(socket: Socket, receive: (message: M) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) receive(JSON.parse(line) as M);
    } catch {
      socket.destroy();
    }
    if (rest.length > LINE_CHARS_MAX) socket.destroy();
  });
}
