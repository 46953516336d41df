import type { Lines, Printer, Word } from './word.ts';

/** A file that the shell sends output to; `append`: what is in it stays. */
export interface Output extends Word {
  readonly append?: boolean;
  /** What the command prints does not go there: `2> errors`. */
  readonly beside?: boolean;
}

/** Does all output go into files? With `2> errors` alone, a reader still gets the output. */
export function isSentAway(outputs: readonly Output[]): boolean {
  return outputs.some(({ text, beside }) => beside !== true && !STANDARD_OUTPUT.test(text));
}

const STANDARD_OUTPUT = /^(?:\/dev\/(?:stdout|fd\/1)|\/proc\/self\/fd\/1)$/;

/** One program that would run, with nothing of the shell left around it. */
export interface SimpleCommand {
  /** The program without its folder; empty where there is none (`> file`) or only the running shell knows it. */
  readonly name: string;
  /** The program as it was called: `./run.sh`. */
  readonly program: string;
  readonly args: readonly Word[];
  /** The files its output is sent to by the shell. */
  readonly outputs: readonly Output[];
  /** What it reads, where the command line itself says so: a here-document, `echo … |`, `find … |`. */
  readonly input: Lines | undefined;
  /** The files that the shell lets it read. */
  readonly reads: readonly Word[];
  /** The commands that print what it reads. */
  readonly from: readonly Printer[];
  /** Where it runs, seen from where the command line started; empty: there. */
  readonly folder: Word;
  /** The wrappers around it, outermost first: `sudo`, `xargs`, `bash`. */
  readonly through: readonly string[];
  /** It runs on another machine or in a container: its paths are not those of here. */
  readonly elsewhere?: boolean;
  /** Those that have succeeded when it runs: `&&` is between. Undefined: it may run beside what follows, or later. */
  readonly afterSuccessOf?: readonly SimpleCommand[] | undefined;
  /** Variables set for it alone, or before: `GIT_DIR=x git …`. */
  readonly variables: ReadonlyMap<string, readonly Word[]>;
}

/** The name of what stands for all commands of `{ …; } > file`, and of a function's. */
export const GROUP = '{…}';
