import type { Output, SimpleCommand } from './shell-command.ts';
import { baseName, type Lines, type Printer, type Word } from './word.ts';
import type { World } from './world.ts';

/** Something would run here, and only the running shell will know what. */
export interface Opaque {
  /**
   * `command`: its name is unknown. `script`: a shell or an interpreter is given code that is not visible.
   * `input`: it reads the code from a file, from a person, or from other commands. `bomb`: a function that
   * starts itself twice. `unreadable`: no shell would read it, or the parser does not. `limit`: more than is
   * followed.
   */
  readonly kind: 'command' | 'script' | 'input' | 'bomb' | 'unreadable' | 'limit';
  readonly source: string;
  /** The commands whose output it would be. */
  readonly from: readonly Printer[];
}

/** The programs that a command line would run. */
export interface Reading {
  readonly commands: readonly SimpleCommand[];
  /** What only the running shell will know, in words. */
  readonly unknown: readonly string[];
  readonly opaque: readonly Opaque[];
}

/** What flows through a command: the lines it reads and those it prints; undefined where unknown, or of no interest. */
export interface Flow {
  readonly input: Lines | undefined;
  /** The commands that print what it reads. */
  readonly from: readonly Printer[];
  readonly reads?: readonly Word[];
  printed: Word[] | undefined;
  readonly through: readonly string[];
  readonly elsewhere?: boolean;
  /** What has succeeded before; undefined if it is unknown when it runs (`&`, `trap`). */
  readonly afterSuccessOf?: readonly SimpleCommand[] | undefined;
  /** It stands in a branch or a loop, or behind `&&` or `||`. */
  readonly inSomeCases?: boolean;
}

/** Does something happen in any case, and in the shell that goes on? */
export function isSure({ inSomeCases = false, through }: Flow): boolean {
  return !inSomeCases && !through.includes('$(…)');
}

/** A program of these words that would run there and then. */
export function simpleCommand(
  words: readonly Word[],
  { folder, variables }: World,
  flow: Flow,
  outputs: readonly Output[],
): SimpleCommand {
  const { input, from, reads = [], through, elsewhere = false, afterSuccessOf } = flow;
  const program = words[0]?.text ?? '';
  const name = baseName(program);
  const args = words.slice(1);
  return {
    name,
    program,
    args,
    outputs,
    input,
    reads,
    from,
    folder,
    through,
    elsewhere,
    afterSuccessOf,
    variables,
  };
}
