import { Watchers } from '../watchers.ts';
import type { Log } from './ordered-log.ts';

const POLL_MS = 1000;

/**
 * Tells watchers that the log may have grown: at once for commits of this process; for other processes by
 * polling once a second, however many watchers there are. A poll is two small reads, and happens only while
 * there is a watcher.
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

  /** Each watcher begins with a hint: it has not heard of commits since its last look. */
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
        // A first poll can't tell whether the head has moved since the watcher began.
        const moved = head !== this.#heads.get(project);
        this.#heads.set(project, head);
        if (waiting || moved) this.#watchers.wake(project);
      }
    } catch {
      // The store is away; the next poll comes in a second.
    } finally {
      this.#polling = false;
    }
  }
}
