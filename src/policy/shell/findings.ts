import type { SimpleCommand } from './command.ts';
import { isKnown, shortPath, type Word, within } from './word.ts';

/**
 * One place that a command line would write, create, move or delete. `tree` is the path and, if it is a folder, everything
 * below; `glob` a pattern that the shell would expand. Nothing is looked up: a `file` may turn out to be a folder.
 */
export interface Write {
  readonly path: string;
  readonly how: 'file' | 'tree' | 'glob';
}

/** A command that may change any file of a work tree, which ones only git knows. */
export interface Sweep {
  /** `git pull`. */
  readonly command: string;
  /** The folder whose work tree it is, as paths are written; empty: where the command line starts, also where nobody can tell. */
  readonly folder: string;
}

/** What a tool call would touch. Reads are not in it. */
export interface Touched {
  /** Paths as written, joined with the folders changed into; absolute, or relative to where the command line starts. */
  readonly writes: readonly Write[];
  /** What could not be worked out, in words: "$(ls) as target of rm". */
  readonly unknown: readonly string[];
  readonly everywhere: readonly Sweep[];
}

export const NOTHING: Touched = { writes: [], unknown: [], everywhere: [] };

const WRITES_MAX = 500;
const UNKNOWN_MAX = 20;
const LINKS_MAX = 50;
/** Terminals, sockets, streams. */
const NO_FILE = /^(?:\/dev\/(?!shm\/)|\/proc\/self\/fd\/)/;
/** Programs that take `host:path` for a place on another machine. */
const REMOTE = new Set(['rsync', 'scp']);

/** Gathers what the commands of one line write, each place once. */
export class Findings {
  readonly #writes = new Map<string, Write>();
  readonly #unknown: Set<string>;
  /** Other names that the command line itself gives to files, and what they lead to. */
  readonly #links = new Map<string, string>();
  #everywhere: Map<string, Sweep> | undefined;

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
      everywhere: [...(this.#everywhere?.values() ?? [])],
    };
  }

  file(command: SimpleCommand, ...words: readonly Word[]): void {
    for (const word of words) this.#add(command, word, 'file');
  }

  tree(command: SimpleCommand, ...words: readonly Word[]): void {
    for (const word of words) this.#add(command, word, 'tree');
  }

  /** From here on what is written by way of `name` arrives at `target`; both as seen from the command's folder. */
  link(command: SimpleCommand, name: Word, target: Word): void {
    const [from, to] = [within(command.folder, name), within(command.folder, target)];
    if (!isKnown(from) || !isKnown(to) || from.glob || to.glob || this.#links.size >= LINKS_MAX) return;
    // The folder of the start itself has a name, too.
    this.#links.set(shortPath(from.text), shortPath(to.text) || '.');
  }

  unknown(what: string): void {
    this.#unknown.add(what);
  }

  everywhere({ folder }: SimpleCommand, command: string): void {
    const where = isKnown(folder) && !folder.glob ? folder.text : '';
    this.#everywhere ??= new Map();
    this.#everywhere.set(`${command} ${where}`, { command, folder: where });
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
    if (NO_FILE.test(shortPath(place.text)) || (REMOTE.has(command.name) && /^[^/]*:/.test(word.text)))
      return;
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
    let path: string | undefined = write.path;
    for (let hops = 0; path !== undefined && hops <= this.#links.size; hops += 1) {
      this.#note({ ...write, path });
      path = this.#links.size === 0 ? undefined : this.#followed(shortPath(path));
    }
  }

  /** Where a path arrives by way of a link that was made before. */
  #followed(path: string): string | undefined {
    for (const [name, target] of this.#links) {
      if (path === name) return target;
      if (path.startsWith(`${name}/`)) return shortPath(`${target}${path.slice(name.length)}`);
    }
    return undefined;
  }

  #note(write: Write): void {
    if (this.#writes.size >= WRITES_MAX) {
      this.#unknown.add(`more than ${WRITES_MAX} files`);
      return;
    }
    this.#writes.set(`${write.how} ${write.path}`, write);
  }
}

/** Says what one command writes. */
export type Writer = (command: SimpleCommand, found: Findings) => void;
