import { writeSync } from 'node:fs';

/** The other screen, no cursor, no wrapping at the edge: what is drawn there leaves no trace in the scrollback. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/** Shown at once or not at all, where the terminal knows how; elsewhere it means nothing. */
const BEGIN = '\u001b[?2026h\u001b[H';
const END = '\u001b[J\u001b[?2026l';

export const CTRL_C = '\u0003';
/** q, Ctrl-C, Ctrl-D. */
const QUIT_KEYS = ['q', 'Q', CTRL_C, '\u0004'];

interface Watcher {
  /** Default: also `q`, where nothing is lost by it. */
  readonly quitKeys?: readonly string[] | undefined;
  /** Somebody wants to end it. */
  onQuit(): void;
  /** What is on the screen may be wrong now. */
  onChange(): void;
}

/**
 * Takes the terminal over and gives it back as it was, whichever way the process ends: at its end, by a signal, with an
 * exception. Only `kill -9` is stronger; then `reset` helps.
 */
export class Screen implements Disposable {
  readonly #watcher: Watcher;
  #open = false;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
    process.on('exit', this.#leave);
    process.on('SIGTSTP', this.#suspend);
    process.on('SIGCONT', this.#resume);
    process.on('SIGQUIT', this.#quitHard);
    process.stdout.on('resize', this.#changed);
    this.#enter();
  }

  draw(lines: readonly string[]): void {
    if (!this.#open) return;
    const text = lines.map((line) => `${line}\u001b[K`).join('\r\n');
    process.stdout.write(`${BEGIN}${text}${END}`);
  }

  [Symbol.dispose](): void {
    this.#leave();
    process.removeListener('exit', this.#leave);
    process.removeListener('SIGTSTP', this.#suspend);
    process.removeListener('SIGCONT', this.#resume);
    process.removeListener('SIGQUIT', this.#quitHard);
    process.stdout.removeListener('resize', this.#changed);
  }

  #enter(): void {
    if (this.#open) return;
    this.#open = true;
    this.#write(ENTER);
    const { stdin } = process;
    if (stdin.isTTY !== true) return;
    // Raw, or what is typed would stand in the picture; then Ctrl-C is a character like any other.
    stdin.setRawMode(true);
    stdin.on('data', this.#key);
    stdin.resume();
  }

  readonly #leave = (): void => {
    if (!this.#open) return;
    this.#open = false;
    const { stdin } = process;
    if (stdin.isTTY === true) {
      stdin.removeListener('data', this.#key);
      stdin.setRawMode(false);
      stdin.pause();
    }
    this.#write(LEAVE);
  };

  /** At once: there may be no later. A terminal that has gone needs no restoring. */
  #write(text: string): void {
    try {
      writeSync(1, text);
    } catch {}
  }

  readonly #key = (typed: Buffer): void => {
    const text = typed.toString();
    const keys = this.#watcher.quitKeys ?? QUIT_KEYS;
    if (keys.some((key) => text.includes(key))) this.#watcher.onQuit();
    // To all of us, as the terminal itself would: our starter has to stop too, or the shell would wait for it.
    else if (text.includes('\u001a')) process.kill(0, 'SIGTSTP');
  };

  readonly #suspend = (): void => {
    this.#leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #resume = (): void => {
    this.#enter();
    this.#watcher.onChange();
  };

  readonly #quitHard = (): void => {
    this.#leave();
    process.removeListener('SIGQUIT', this.#quitHard);
    process.kill(process.pid, 'SIGQUIT');
  };

  readonly #changed = (): void => this.#watcher.onChange();
}
