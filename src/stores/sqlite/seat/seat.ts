import type { StoreContext } from '../../../ledger/store-port.ts';
import type { Writer } from '../writer.ts';
import { Follower } from './follower.ts';
import { SeatServer } from './seat-server.ts';
import type { SeatRow } from './seat-statements.ts';

/** Renewed within commits that happen anyway; an idle seat writes nothing, and its lease expires. */
const LEASE_MS = 5000;
const LOOK_EVERY_MS = 200;
/** A seat that did not answer is not tried again for this long. */
const SHUNNED_MS = 1000;
/** After a seat has gone, its followers do not all try to take it at the same instant. */
const STAGGER_MS = 20;

/**
 * Which process commits for the others on one file. Correctness is SQLite's: any process may commit at any
 * time. The process that sits takes its neighbours' commands over a socket, decides them in its own
 * transactions and puts them on disk together. A process that can't reach the seat, or gets no answer in
 * time, commits directly. docs/decisions/0009.
 */
export class Seat {
  readonly #path: string;
  readonly #writer: Writer;
  readonly #context: StoreContext;
  #server: SeatServer | undefined;
  #token = 0;
  #expires_at_ms = 0;
  #follower: Follower | undefined;
  #shunned: { token: number; until_ms: number } | undefined;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #closed = false;
  #hasFollowers = false;

  constructor(path: string, writer: Writer, context: StoreContext) {
    this.#path = path;
    this.#writer = writer;
    this.#context = context;
    writer.beforeCommit = () => this.#renew();
    this.consider();
  }

  /** The connection to the process that sits, if it is another process and it answers. */
  get follower(): Follower | undefined {
    return this.#follower;
  }

  /** Whether other processes commit through this one. */
  get serves(): boolean {
    return this.#hasFollowers;
  }

  get commits(): string {
    if (this.#server !== undefined) return `for itself and ${this.#server.followers} others`;
    return this.#follower === undefined ? 'directly' : `through process ${this.#follower.pid}`;
  }

  /**
   * Called by a process that commits directly: there may be a seat to go through by now, or the seat may be
   * free.
   */
  consider(): void {
    if (this.#closed || this.#server !== undefined || this.#follower !== undefined) return;
    const now_ms = this.#context.clock.elapsed_ms();
    if (this.#looking !== undefined || now_ms - this.#looked_ms < LOOK_EVERY_MS) return;
    this.#looked_ms = now_ms;
    this.#looking = this.#look()
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /**
   * Finishes the calls it accepted, gives the seat up, then disconnects the neighbours: none of them has to
   * wait for a time-out.
   */
  async leave(): Promise<void> {
    await this.#looking;
    const token = this.#token;
    if (this.#server !== undefined)
      await this.#writer
        .inTransaction(() => this.#writer.statements.seat.renew(token, 0), false)
        .catch(() => false);
    await this.#stepDown();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.leave();
    this.#follower?.end('closed');
  }

  async #look(): Promise<void> {
    const row = this.#writer.statements.seat.row();
    if (row === undefined) return await this.#sit(undefined);
    const { clock } = this.#context;
    const isShunned = this.#shunned?.token === row.token && clock.elapsed_ms() < this.#shunned.until_ms;
    if (!isShunned) {
      // Also when its lease has expired: an idle seat is as good as a busy one.
      const found = await Follower.connect(this.#path, row.socket, clock);
      if (found === 'gone') return await this.#sit(row);
      if (found !== 'unreachable') return this.#follow(found, row);
      this.#shun(row.token);
    }
    if (row.expires_at_ms <= clock.now_ms()) await this.#sit(row);
  }

  #shun(token: number): void {
    this.#shunned = { token, until_ms: this.#context.clock.elapsed_ms() + SHUNNED_MS };
    setTimeout(() => this.consider(), SHUNNED_MS + 1).unref();
  }

  #follow(follower: Follower, row: SeatRow): void {
    if (this.#closed) {
      follower.end('closed');
      return;
    }
    this.#follower = follower;
    follower.onEnd = (why) => {
      this.#follower = undefined;
      if (why === 'silent') this.#shun(row.token);
      const pause_ms = this.#context.random.fraction() * STAGGER_MS;
      this.#looked_ms = Number.NEGATIVE_INFINITY;
      setTimeout(() => this.consider(), pause_ms).unref();
    };
  }

  async #sit(seen: SeatRow | undefined): Promise<void> {
    const server = await SeatServer.listen(this.#path, this.#writer, this.#context);
    if (server === undefined) return;
    server.onFollowers = () => {
      this.#hasFollowers = this.#server === server && server.followers > 0;
    };
    const now_ms = this.#context.clock.now_ms();
    const row: SeatRow = {
      token: Math.max((seen?.token ?? 0) + 1, now_ms),
      pid: process.pid,
      socket: server.socketPath,
      taken_at_ms: now_ms,
      expires_at_ms: now_ms + LEASE_MS,
    };
    const taken = await this.#writer
      .inTransaction(() => this.#writer.statements.seat.take(row, seen?.token ?? 0), false)
      .catch(() => false);
    // Also when it was closed meanwhile: `leave` waits for this, and then gives up what was taken.
    if (!taken) return await server.close();
    this.#server = server;
    server.onFollowers();
    this.#token = row.token;
    this.#expires_at_ms = row.expires_at_ms;
    process.on('SIGTSTP', this.#suspend);
  }

  /** Inside a transaction that is about to commit. */
  #renew(): void {
    if (this.#server === undefined) return;
    const now_ms = this.#context.clock.now_ms();
    if (this.#expires_at_ms - now_ms > LEASE_MS / 2) return;
    this.#expires_at_ms = now_ms + LEASE_MS;
    if (!this.#writer.statements.seat.renew(this.#token, this.#expires_at_ms)) void this.#stepDown();
  }

  async #stepDown(): Promise<void> {
    process.off('SIGTSTP', this.#suspend);
    const server = this.#server;
    this.#server = undefined;
    this.#hasFollowers = false;
    await server?.close();
  }

  /** Ctrl-Z on the agent that sits: its followers should not have to find out by waiting. */
  readonly #suspend = (): void => {
    void this.leave().finally(() => process.kill(process.pid, 'SIGSTOP'));
  };
}
