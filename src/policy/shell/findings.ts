import type { SimpleCommand } from './command.ts';
import { isKnown, type Word, within } from './word.ts';

/**
 * One place that a command line would write, create, move or delete. `tree` is the path and, if it is a folder, everything
 * below; `glob` a pattern that the shell would expand. Nothing is looked up: a `file` may turn out to be a folder.
 */
export interface Write {
  readonly path: string;
  readonly how: 'file' | 'tree' | 'glob';
}

/** What a tool call would touch. Reads are not in it. */
export interface Touched {
  /** Paths as written, joined with the folders changed into; absolute, or relative to where the command line starts. */
  readonly writes: readonly Write[];
  /** What could not be worked out, in words: "$(ls) as target of rm". */
  readonly unknown: readonly string[];
  /** Commands that may change any file of the work tree, which ones only git knows: "git pull". */
  readonly everywhere: readonly string[];
}

export const NOTHING: Touched = { writes: [], unknown: [], everywhere: [] };

const WRITES_MAX = 500;
const UNKNOWN_MAX = 20;
/** Terminals, sockets, streams. */
const NO_FILE = /^(?:\/dev\/(?!shm\/)|\/proc\/self\/fd\/)/;
/** Programs that take `host:path` for a place on another machine. */
const REMOTE = new Set(['rsync', 'scp']);

/** Gathers what the commands of one line write, each place once. */
export class Findings {
  readonly #writes = new Map<string, Write>();
  readonly #unknown: Set<string>;
  #everywhere: Set<string> | undefined;

  constructor(unknown: Iterable<string>) {
    this.#unknown = new Set(unknown);
  }

  get writes(): readonly Write[] {
    return [...this.#writes.values()];
  }

  get touched(): Touched {
    return {
      writes: this.writes,
      unknown: [...this.#unknown].slice(0, UNKNOWN_MAX),
      everywhere: [...(this.#everywhere ?? [])],
    };
  }

  file(command: SimpleCommand, ...words: readonly Word[]): void {
    for (const word of words) this.#add(command, word, 'file');
  }

  tree(command: SimpleCommand, ...words: readonly Word[]): void {
    for (const word of words) this.#add(command, word, 'tree');
  }

  unknown(what: string): void {
    this.#unknown.add(what);
  }

  everywhere(command: string): void {
    this.#everywhere ??= new Set();
    this.#everywhere.add(command);
  }

  #add(command: SimpleCommand, word: Word, how: 'file' | 'tree'): void {
    if (!isKnown(word)) {
      const of = command.name === '' ? 'a redirection' : command.name;
      this.#unknown.add(`${word.unknown} as target of ${of}`);
      return;
    }
    // An empty word is no path, and `-` is a stream; a line break makes it no file that anybody could lock.
    if (word.text === '' || word.text === '-' || /[\0\n]/.test(word.text)) return;
    const place = within(command.folder, word);
    if (!isKnown(place)) {
      this.#unknown.add(`${word.text} in the folder of ${place.unknown}`);
      return;
    }
    if (NO_FILE.test(place.text) || (REMOTE.has(command.name) && /^[^/]*:/.test(word.text))) return;
    if (!place.glob || !/[*?]/.test(place.text)) {
      this.#put({ path: place.text, how });
      return;
    }
    // Where the pattern matches nothing the shell hands it on: Next.js calls its folders `[slug]`.
    if (place.spelling !== undefined) this.#put({ path: place.spelling, how });
    const pattern = how === 'tree' ? place.text.replace(/\/*(?:\/\*\*)?$/, '/**') : place.text;
    const whole = /^(?:([^*?]*)\/)?\*\*$/.exec(pattern);
    this.#put(whole === null ? { path: pattern, how: 'glob' } : { path: whole[1] ?? '.', how: 'tree' });
  }

  #put(write: Write): void {
    if (this.#writes.size >= WRITES_MAX) {
      this.#unknown.add(`more than ${WRITES_MAX} files`);
      return;
    }
    this.#writes.set(`${write.how} ${write.path}`, write);
  }
}

/** Says what one command writes. */
export type Writer = (command: SimpleCommand, found: Findings) => void;
