import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type Clock, machineTime_ms } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { Command, Outcome } from '../../../ledger/decision.ts';
import type { Request, Unplaced } from '../../../ledger/log.ts';
import { build, type FromSeat, onMessage, send } from './protocol.ts';

/** How long a call waits for the seat before it commits directly. */
const ANSWER_MS_MAX = 250;

/** The seat did not answer. If it committed the call all the same, then after this position. */
export interface Unanswered {
  readonly status: 'unanswered';
  readonly after: number;
}

interface Pending {
  readonly after: number;
  readonly not_after_ms: number;
  resolve(outcome: Outcome<JsonObject> | Unanswered): void;
  reject(error: Error): void;
}

/** `gone`: no process listens there any more. `unreachable`: it may well be alive, but we can't reach it. */
export type Connected = Follower | 'gone' | 'unreachable';

/** This process's connection to the seat of its file. */
export class Follower {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  /** The last position known to be taken. */
  #position: number;
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly pid: number;
  /** Called once, when the connection is broken or the seat did not answer. */
  onEnd: (why: 'silent' | 'closed') => void = () => {};

  private constructor(socket: Socket, clock: Clock, welcome: { pid: number; position: number }) {
    this.#socket = socket;
    this.#clock = clock;
    this.#position = welcome.position;
    this.pid = welcome.pid;
  }

  static connect(path: string, socketPath: string, clock: Clock): Promise<Connected> {
    return new Promise((resolve) => {
      const socket = connect(socketPath);
      let follower: Follower | undefined;
      const fail = (why: 'gone' | 'unreachable') => {
        clearTimeout(timer);
        if (follower === undefined) resolve(why);
        socket.destroy();
      };
      const timer = setTimeout(() => fail('unreachable'), ANSWER_MS_MAX);
      socket.on('error', (error: NodeJS.ErrnoException) =>
        // A socket file without a listener is left by a killed process; a missing one may be another
        // container's.
        fail(error.code === 'ECONNREFUSED' ? 'gone' : 'unreachable'),
      );
      socket.on('close', () => {
        fail('unreachable');
        follower?.end('closed');
      });
      socket.on('connect', () => {
        const file = statSync(path, { throwIfNoEntry: false });
        const { dev = 0, ino = 0 } = file ?? {};
        send(socket, { hello: { build: build(), dev, ino, machine_ms: machineTime_ms() } });
      });
      onMessage<FromSeat>(socket, (message) => {
        if ('sorry' in message) return fail('unreachable');
        if (!('welcome' in message)) return follower?.receive(message);
        clearTimeout(timer);
        follower = new Follower(socket, clock, message.welcome);
        socket.unref();
        resolve(follower);
      });
    });
  }

  /** Whether a compatible process answers there. */
  static async isThere(path: string, socketPath: string, clock: Clock): Promise<boolean> {
    const found = await Follower.connect(path, socketPath, clock);
    if (typeof found === 'string') return false;
    found.end('closed');
    return true;
  }

  call(request: Request, command: Command): Promise<Outcome<JsonObject> | Unanswered> {
    this.#calls += 1;
    const call = this.#calls;
    // Integers are written and parsed in a fraction of the time.
    const not_after_ms = Math.floor(machineTime_ms()) + ANSWER_MS_MAX;
    return new Promise((resolve, reject) => {
      // An unreferenced socket would let the process end before the answer.
      if (this.#pending.size === 0) this.#socket.ref();
      this.#pending.set(call, { after: this.#position, not_after_ms, resolve, reject });
      this.#timer ??= setTimeout(this.#checkOldest, ANSWER_MS_MAX).unref();
      const age_us = Math.round((this.#clock.elapsed_ms() - request.started_ms) * 1000);
      send(this.#socket, { call, not_after_ms, age_us, request: { ...request, started_ms: 0 }, command });
    });
  }

  /** One timer for all waiting calls: it fires rarely, and most calls end before it does. */
  readonly #checkOldest = (): void => {
    this.#timer = undefined;
    const [oldest] = this.#pending.values();
    if (oldest === undefined) return;
    const left_ms = oldest.not_after_ms - machineTime_ms();
    if (left_ms <= 0) this.end('silent');
    else this.#timer = setTimeout(this.#checkOldest, left_ms).unref();
  };

  note(row: Unplaced): void {
    send(this.#socket, { note: row });
  }

  end(why: 'silent' | 'closed'): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    clearTimeout(this.#timer);
    for (const { after, resolve } of pending) resolve({ status: 'unanswered', after });
    this.#socket.destroy();
    const { onEnd } = this;
    this.onEnd = () => {};
    onEnd(why);
  }

  private receive(message: Exclude<FromSeat, { sorry: string } | { welcome: object }>): void {
    const pending = this.#pending.get(message.call);
    if (pending === undefined) return;
    this.#pending.delete(message.call);
    if (this.#pending.size === 0) this.#socket.unref();
    if ('failure' in message) {
      pending.reject(new StoreFailure(message.failure.code, message.failure.message));
      return;
    }
    this.#position = Math.max(this.#position, message.position);
    pending.resolve(message.outcome);
  }
}
