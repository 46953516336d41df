import { writeSync } from 'node:fs';

/** Alternate screen, no cursor, no line wrapping: the picture leaves no trace in the scrollback. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/**
 * Synchronized update: the frame appears at once, if the terminal supports it. Other terminals ignore the
 * sequence.
 */
const BEGIN = '\u001b[?2026h\u001b[H';
const END = '\u001b[J\u001b[?2026l';

export const CTRL_C = '\u0003';
/** q, Ctrl-C, Ctrl-D. */
const QUIT_KEYS = ['q', 'Q', CTRL_C, '\u0004'];

interface Watcher {
  /** Default: also `q`, if nothing is lost by it. */
  readonly quitKeys?: readonly string[] | undefined;
  /** The user wants to quit. */
  onQuit(): void;
  /** The screen may be out of date. */
  onChange(): void;
}

/**
 * Takes over the terminal and restores it however the process ends: normally, by a signal, or with an
 * exception. Only `kill -9` prevents that; then `reset` helps.
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
    // Raw mode, or typed characters would appear in the picture. In raw mode Ctrl-C is a character like any
    // other.
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

  /** Synchronously: there may be no later. A terminal that has gone needs no restoring. */
  #write(text: string): void {
    try {
      writeSync(1, text);
    } catch {}
  }

  readonly #key = (typed: Buffer): void => {
    const text = typed.toString();
    const keys = this.#watcher.quitKeys ?? QUIT_KEYS;
    if (keys.some((key) => text.includes(key))) this.#watcher.onQuit();
    // To the whole process group, as the terminal itself would send it: our parent has to stop too, or the
    // shell would wait for it.
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
