import type { Lines, Word } from './word.ts';

/** One program that would run, with nothing of the shell left around it. */
export interface SimpleCommand {
  /** The program without its folder; empty where there is none (`> file`) or only the running shell knows it. */
  readonly name: string;
  readonly args: readonly Word[];
  /** The files its output is sent to by the shell. */
  readonly outputs: readonly Word[];
  /** What it reads, where the command line itself says so: a here-document, `echo … |`, `find … |`. */
  readonly input: Lines | undefined;
  /** Where it runs, seen from where the command line started; empty: there. */
  readonly folder: Word;
  /** The wrappers around it, outermost first: `sudo`, `xargs`, `bash`. */
  readonly through: readonly string[];
}
