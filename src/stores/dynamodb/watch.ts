import { Watchers } from '../watchers.ts';
import type { Log } from './ordered-log.ts';

const POLL_MS = 1000;

/**
 * Tells watchers that the log may have grown: in this process at once, of other processes by looking once a second, however
 * many watch. Two small reads, and only while somebody watches.
 */
export class Watch {
  readonly #log: Log;
  readonly #watchers: Watchers;
  readonly #heads = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #polling = false;

  constructor(log: Log) {
    this.#log = log;
    this.#watchers = new Watchers({
      begin: () => {
        this.#timer ??= setInterval(() => void this.#poll(), POLL_MS).unref();
      },
      end: () => {
        clearInterval(this.#timer);
        this.#timer = undefined;
        this.#heads.clear();
      },
      waits: (someone) => {
        if (someone) this.#timer?.ref();
        else this.#timer?.unref();
      },
    });
  }

  /** Each begins with a hint: what was committed since its last look has been told to nobody. */
  watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#watchers.watch(project, signal, () => true);
  }

  grown(project: string): void {
    this.#watchers.wake(project);
  }

  close(): void {
    this.#watchers.close();
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      for (const project of this.#watchers.projects) {
        const [waiting, head] = await Promise.all([this.#log.hasWaiting(project), this.#log.head(project)]);
        // A first look can't tell whether it has moved since somebody began to watch.
        const moved = head !== this.#heads.get(project);
        this.#heads.set(project, head);
        if (waiting || moved) this.#watchers.wake(project);
      }
    } catch {
      // The store is away; the next look comes in a second.
    } finally {
      this.#polling = false;
    }
  }
}
