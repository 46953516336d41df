import { afterOptions } from './program-options.ts';
import { isKnown, type Lines, type Printer, type Word } from './word.ts';

/**
 * What a wrapper would run: another command, a script in its arguments or its input, or something that is not
 * visible.
 */
export type Inner =
  | { readonly words: readonly Word[]; readonly folder?: Word | undefined }
  /** `parameters`: `$0`, `$1` and on. */
  | { readonly script: string; readonly parameters?: readonly Word[] }
  /** `reads`: it is what the command reads. */
  | { readonly unknown: string; readonly from?: readonly Printer[] | undefined; readonly reads?: boolean };

export interface Wrapped {
  readonly runs: readonly Inner[];
  /** The wrapper does something itself, too: `find … -delete`, `python -c`. */
  readonly itself?: boolean;
  /** What it runs may run several times, and prints something else each time. */
  readonly again?: boolean;
  /** On another machine, or in a container. */
  readonly elsewhere?: boolean;
}

export type Unwrap = (words: readonly Word[], input: Lines | undefined, name: string) => Wrapped | undefined;

export function runs(words: readonly Word[], folder?: Word): Wrapped {
  return { runs: words.length === 0 ? [] : [{ words, folder }] };
}

/** Wrappers of the shape `name [options] [extra operands] command …`, with the options that take a word. */
export function plain(takes = '', operands = 0): Unwrap {
  return (words) => runs(words.slice(afterOptions(words, 1, takes) + operands));
}

export function script(word: Word | undefined, parameters: readonly Word[], what: string): Wrapped {
  if (word === undefined) return { runs: [] };
  // Where only a part is unknown, the script is read with that part in it as it is spelled.
  const text = isKnown(word) ? word.text : word.source;
  return {
    runs: [
      text === undefined
        ? { unknown: `${word.unknown} as ${what}`, from: word.from }
        : { script: text, parameters },
    ],
  };
}
