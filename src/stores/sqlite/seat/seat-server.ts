import { lstatSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineTime_ms } from '../../../kernel/clock.ts';
import { refusalCode, StoreFailure } from '../../../kernel/refusal.ts';
import type { StoreContext } from '../../../ledger/store-port.ts';
import { decideInside } from '../deciding.ts';
import type { Writer } from '../writer.ts';
import {
  build,
  type Call,
  CLOCKS_APART_MS_MAX,
  type Hello,
  onMessage,
  send,
  type ToSeat,
} from './protocol.ts';

const FAREWELL_MS_MAX = 100;

/** The socket on which the neighbours of a file's seat reach it. */
export class SeatServer {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Told when a neighbour has come or gone. */
  onFollowers: () => void = () => {};
  readonly #path: string;
  readonly #writer: Writer;
  readonly #context: StoreContext;

  private constructor(path: string, writer: Writer, context: StoreContext) {
    this.#path = path;
    this.#writer = writer;
    this.#context = context;
    // A new name each time: unlinking and binding the same name made two leaders in 30 of 40 tries.
    const name = Buffer.from(context.random.bytes(9)).toString('base64url');
    this.socketPath = join(runtimeFolder(), `${name}.sock`);
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Undefined where there is no private folder for the socket. */
  static async listen(path: string, writer: Writer, context: StoreContext): Promise<SeatServer | undefined> {
    try {
      const seat = new SeatServer(path, writer, context);
      await new Promise<void>((resolve, reject) => {
        seat.#server.once('error', reject);
        seat.#server.listen(seat.socketPath, resolve);
      });
      // It serves neighbours only as long as its own process has something to do; it does not keep the
      // process alive.
      seat.#server.unref();
      return seat;
    } catch {
      return undefined;
    }
  }

  get followers(): number {
    return this.#sockets.size;
  }

  /** Resolves once every follower has been sent its remaining answers and the end of the stream. */
  async close(): Promise<void> {
    this.#server.close();
    rmSync(this.socketPath, { force: true });
    const ended = [...this.#sockets].map((socket) => new Promise<void>((resolve) => socket.end(resolve)));
    // A follower that does not read, perhaps because it is stopped, is not waited for.
    const enough = new AbortController();
    const limit = this.#context.clock.sleep(FAREWELL_MS_MAX, enough.signal).catch(() => {});
    await Promise.race([Promise.all(ended), limit]);
    enough.abort();
  }

  #serve(socket: Socket): void {
    let welcome = false;
    this.#sockets.add(socket);
    this.onFollowers();
    socket.unref();
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.onFollowers();
    });
    socket.on('error', () => socket.destroy());
    onMessage<ToSeat>(socket, (message) => {
      if ('hello' in message) {
        const reason = this.#mismatch(message.hello);
        welcome = reason === undefined;
        if (reason !== undefined) send(socket, { sorry: reason });
        else send(socket, { welcome: { pid: process.pid, position: this.#writer.records.position } });
      } else if (!welcome) socket.destroy();
      else if ('note' in message) this.#writer.note(message.note);
      else this.#answer(socket, message);
    });
  }

  #mismatch({ build: theirs, dev, ino, machine_ms }: Hello): string | undefined {
    if (theirs !== build()) return `this is ${build()}`;
    const file = statSync(this.#path, { throwIfNoEntry: false });
    if (file?.dev !== dev || file.ino !== ino) return 'another file';
    if (Math.abs(machineTime_ms() - machine_ms) > CLOCKS_APART_MS_MAX) return 'another clock';
    return undefined;
  }

  #answer(socket: Socket, { call, not_after_ms, age_us, request: sent, command }: Call): void {
    const { clock, commands } = this.#context;
    const decision = commands?.get(command.name)?.(...(command.args as never[]));
    if (decision === undefined) return;
    const request = { ...sent, started_ms: clock.elapsed_ms() - age_us / 1000 };
    this.#writer.submit({
      execute: () => {
        // A seat that was stopped wakes up with calls whose callers have long since committed directly.
        if (machineTime_ms() >= not_after_ms) return { promises: false, answer: () => {} };
        const outcome = decideInside(this.#writer, this.#context, request, decision);
        const position = this.#writer.records.position;
        return {
          promises: outcome.status === 'committed',
          answer: () => send(socket, { call, outcome, position }),
        };
      },
      fail(error) {
        // Any other fault the caller finds itself, when it gets no answer and commits directly.
        if (error instanceof StoreFailure)
          send(socket, { call, failure: { code: refusalCode(error.refusal), message: error.message } });
      },
    });
  }
}

/**
 * Short, because a socket's path is limited to about 100 characters; private, because a process that can
 * connect to it may write.
 */
function runtimeFolder(): string {
  const user = process.getuid?.();
  if (user === undefined) throw new Error('no unix sockets here');
  const folder = join(process.env.XDG_RUNTIME_DIR || tmpdir(), `cox-${user}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== user || (found.mode & 0o077) !== 0)
    throw new Error(`${folder} is not private`);
  return folder;
}
