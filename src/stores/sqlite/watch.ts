import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { isBusy, storeFailure } from './errors.ts';
import type { Writer } from './writer.ts';

/**
 * The kernel reports the first bytes in the -wal; a look right away would often come before the commit is
 * complete.
 */
const SETTLE_MS = 2;
/** However many commits there are, a watcher is not woken more often than this. */
const GAP_MS = 20;
/**
 * Looks after a hint get rarer, down to this interval: a hint may be lost, and a writer may be stopped within
 * its commit.
 */
const SAFETY_MS = 2000;
const RARER = 5;
/** The interval where no hints come. */
const DEAF_MS = 80;
/** Only inotify was measured. Other systems may report writes to an open file late. */
const HINTS_COME = process.platform === 'linux';

interface Waiter {
  /** The turn that this waiter has seen. */
  readonly seen: number;
  wake(): void;
  fail(error: Error): void;
}

/**
 * Tells this process's watchers of a file that its log may have grown, whichever process wrote it. Writers do
 * nothing for it: the kernel reports a write to the -wal (inotify) once, and then the watch is ended until
 * the next look. Left on, it would cost every commit of every process 10 to 40 µs, and a watcher a third of a
 * processor under 10,000 commits a second.
 *
 * A hint is not trusted but checked, in the memory that SQLite's processes share: no disk is read. Nothing at
 * all happens while no watcher waits.
 *
 * Only the -wal may be watched: closing one of the other two files drops the locks SQLite has on it, and some
 * systems have to open what they watch.
 */
export class Watch {
  readonly #path: string;
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #ear: FSWatcher | undefined;
  #deaf = false;
  #timer: NodeJS.Timeout | undefined;
  #due_ms = 0;
  /** How long the next look was delayed. */
  #wait_ms = 0;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #version: number | undefined;
  /**
   * Counts the commits we know of, ours and those of other processes; `told` is how much of that waiters may
   * know.
   */
  #turn = 0;
  #told = 0;

  constructor(path: string, writer: Writer, clock: Clock) {
    this.#path = path;
    this.#writer = writer;
    this.#clock = clock;
    writer.onCommit = () => {
      this.#turn += 1;
      if (this.#waiting.size > 0) this.#soon(0);
    };
  }

  /** Ends when one of the signals is aborted; throws when the file is no longer the one that was opened. */
  watch(signals: readonly AbortSignal[]): AsyncIterable<void> {
    let seen = -1;
    try {
      // Now, and not when a caller first waits: what is committed in between is news.
      this.#refresh();
      seen = this.#turn;
    } catch {
      // Busy, and so perhaps news; or broken, and then the waiter will get the error.
    }
    return this.#hints(signals, seen);
  }

  async *#hints(signals: readonly AbortSignal[], first: number): AsyncIterable<void> {
    for (let seen = first; ; ) {
      if (seen >= this.#told) await this.#news(signals, seen);
      if (signals.some(({ aborted }) => aborted)) return;
      // Before and not after: what comes while the caller is busy with this hint is news again.
      seen = this.#told;
      yield;
    }
  }

  async #news(signals: readonly AbortSignal[], seen: number): Promise<void> {
    if (signals.some(({ aborted }) => aborted)) return;
    let waiter: Waiter | undefined;
    const ended = () => waiter?.wake();
    for (const signal of signals) signal.addEventListener('abort', ended);
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { seen, wake: resolve, fail: reject };
        this.#waiting.add(waiter);
        this.#soon(0);
      });
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', ended);
      if (waiter !== undefined) this.#waiting.delete(waiter);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#closeEar();
  }

  #soon(after_ms: number): void {
    this.#wait_ms = after_ms;
    const now_ms = this.#clock.elapsed_ms();
    const due_ms = Math.max(now_ms + after_ms, this.#looked_ms + GAP_MS);
    if (this.#timer !== undefined && this.#due_ms <= due_ms) return;
    clearTimeout(this.#timer);
    this.#due_ms = due_ms;
    this.#timer = setTimeout(() => this.#look(), due_ms - now_ms);
  }

  #look(): void {
    this.#timer = undefined;
    this.#looked_ms = this.#clock.elapsed_ms();
    try {
      // First, so that a commit which the look below misses is reported.
      this.#openEar();
      // There was a commit, and no hint for so long: hints get lost on this system.
      if (this.#refresh()) this.#deaf ||= this.#wait_ms >= SAFETY_MS;
      else this.#writer.checkFile();
    } catch (error) {
      if (!isBusy(error)) {
        const failure = storeFailure(error, this.#path);
        for (const waiter of this.#waiting) waiter.fail(failure);
        return;
      }
    }
    this.#told = this.#turn;
    for (const waiter of this.#waiting) if (waiter.seen < this.#told) waiter.wake();
    const rarest_ms = this.#ear === undefined || this.#deaf ? DEAF_MS : SAFETY_MS;
    this.#soon(Math.min(rarest_ms, Math.max(GAP_MS, this.#wait_ms * RARER)));
  }

  /** Whether other processes have committed since the last call. */
  #refresh(): boolean {
    const version = this.#writer.statements.dataVersion();
    if (version === this.#version) return false;
    this.#version = version;
    this.#turn += 1;
    return true;
  }

  #openEar(): void {
    if (!HINTS_COME || this.#ear !== undefined) return;
    try {
      const ear = watch(`${this.#path}-wal`, { persistent: false }, () => {
        this.#deaf = false;
        this.#closeEar();
        this.#soon(SETTLE_MS);
      });
      ear.on('error', () => this.#closeEar());
      this.#ear = ear;
    } catch {
      // The system has no more watches to give, or the file is gone, which the look will find.
    }
  }

  #closeEar(): void {
    this.#ear?.close();
    this.#ear = undefined;
  }
}
