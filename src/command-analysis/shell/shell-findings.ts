import { hasWildcard } from '../../kernel/glob.ts';
import type { SimpleCommand } from './shell-command.ts';
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
  /**
   * The folder of the work tree, as paths are written; empty: where the command line starts, also if it is
   * unknown.
   */
  readonly folder: string;
  /** What follows the verb: `['--ff-only', 'topic']`. Undefined: only the running shell will know all of it, or it is another repository. */
  readonly words?: readonly string[] | undefined;
  /** The file that it reads as its input, as paths are written. */
  readonly reads?: string | undefined;
  /** The words of the git command that prints its input: `['diff', 'main', 'topic']`. */
  readonly printer?: readonly string[] | undefined;
  /** It is none of git's own commands: what it stands for is in git's configuration. */
  readonly isAlias?: boolean | undefined;
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
const SWEEPS_MAX = 50;
/** Terminals, sockets, streams. */
const NO_FILE = /^(?:\/dev\/(?!shm\/)|\/proc\/self\/fd\/)/;
/** Programs that take `host:path` for a place on another machine. */
const REMOTE = new Set(['rsync', 'scp']);

/** As one value: a call has no room for as many arguments as a list may have. */
type OneOrMore = Word | readonly Word[];

const listed = (words: OneOrMore): readonly Word[] => ('text' in words ? [words] : words);

/** What a sweep reads, and whether it is an alias: see `Sweep`. */
interface SweepInput {
  readonly reads?: Word | undefined;
  readonly printer?: readonly Word[] | undefined;
  readonly isAlias?: boolean;
}

/** Undefined: not all of them are known. */
function textsOf(words: readonly Word[]): readonly string[] | undefined {
  return words.every((word) => isKnown(word) && !word.glob) ? words.map(({ text }) => text) : undefined;
}

/** Gathers what the commands of one line write, each place once. */
export class ShellFindings {
  readonly #writes = new Map<string, Write>();
  readonly #unknown: Set<string>;
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

  file(command: SimpleCommand, words: OneOrMore): void {
    for (const word of listed(words)) this.#add(command, word, 'file');
  }

  tree(command: SimpleCommand, words: OneOrMore): void {
    for (const word of listed(words)) this.#add(command, word, 'tree');
  }

  unknown(what: string): void {
    this.#unknown.add(what);
  }

  /** `reads`: the file with its input, as seen from where the command line starts. */
  everywhere(
    { folder, args }: SimpleCommand,
    command: string,
    { reads, printer, isAlias }: SweepInput = {},
  ): void {
    const where = isKnown(folder) && !folder.glob ? folder.text : '';
    const words = textsOf(args);
    const file = isKnown(reads) && !reads.glob ? reads.text : undefined;
    this.#everywhere ??= new Map();
    const name = [
      command,
      where,
      file,
      ...(words ?? ['?']),
      '|',
      ...(printer ?? []).map(({ text }) => text),
    ].join('\0');
    if (this.#everywhere.size < SWEEPS_MAX)
      this.#everywhere.set(name, {
        command,
        folder: where,
        words,
        reads: file,
        printer: printer && textsOf(printer),
        isAlias,
      });
  }

  #add(command: SimpleCommand, word: Word, how: 'file' | 'tree'): void {
    if (!isKnown(word)) {
      const of = command.name === '' ? 'a redirection' : command.name;
      this.#unknown.add(`${word.unknown} as target of ${of}`);
      return;
    }
    // An empty word is no path, and `-` is a stream; with a line break it is no file that an agent could
    // lock.
    if (word.text === '' || word.text === '-' || /[\0\n]/.test(word.text)) return;
    const place = within(command.folder, word);
    if (!isKnown(place)) {
      this.#unknown.add(`${word.text} in the folder of ${place.unknown}`);
      return;
    }
    if (NO_FILE.test(shortPath(place.text)) || (REMOTE.has(command.name) && /^[^/]*:/.test(word.text)))
      return;
    const glob = place.glob && hasWildcard(place.text);
    // Where the pattern matches nothing the shell hands it on: Next.js calls its folders `[slug]`.
    if (glob && place.spelling !== undefined) this.#note({ path: place.spelling, how });
    this.#note(glob ? matching(place.text, how) : { path: place.text, how });
  }

  #note(write: Write): void {
    if (this.#writes.size >= WRITES_MAX) {
      this.#unknown.add(`more than ${WRITES_MAX} files`);
      return;
    }
    this.#writes.set(`${write.how} ${write.path}`, write);
  }
}

/** What a pattern matches, and of trees all that is below. */
function matching(path: string, how: 'file' | 'tree'): Write {
  const pattern = how === 'tree' ? path.replace(/\/*(?:\/\*\*)?$/, '/**') : path;
  const whole = /^(?:([^*?]*)\/)?\*\*$/.exec(pattern);
  return whole === null ? { path: pattern, how: 'glob' } : { path: whole[1] ?? '.', how: 'tree' };
}

/** Says what one command writes. */
export type Writer = (command: SimpleCommand, found: ShellFindings) => void;
