import type { Command } from 'commander';
import { plain } from '../output/text.ts';

export interface Flag {
  readonly name: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly summary: string;
}

/** What can follow at one position of the command line, such as after `cox lock`. */
export interface Spot {
  readonly at: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly flags: readonly Flag[];
  /** The values of the first argument, if it takes one of a few words. */
  readonly values: readonly string[];
}

const WORD = /^[\w.:-]+$/;
const SUMMARY_CHARS_MAX = 70;

function summaryOf(text: string): string {
  const first = plain(text).split(/(?<=[.;])\s/)[0] ?? '';
  const short = first.replace(/[.;:]$/, '');
  return short.length > SUMMARY_CHARS_MAX ? `${short.slice(0, SUMMARY_CHARS_MAX - 1)}…` : short;
}

/** Read from the commands themselves, so that every declared command is completed. */
export function spotsOf(command: Command, at = command.name()): Spot[] {
  const flags = command.options
    .filter((option) => option.long !== undefined && !option.hidden)
    .map((option) => ({
      name: option.long ?? '',
      takesValue: option.required || option.optional,
      choices: (option.argChoices ?? []).filter((choice) => WORD.test(choice)),
      summary: summaryOf(option.description),
    }));
  const commands = command.commands.map((inner) => ({
    name: inner.name(),
    summary: summaryOf(inner.summary() || inner.description()),
  }));
  const help = { name: '--help', takesValue: false, choices: [], summary: 'Show help' };
  const values = [...(command.registeredArguments[0]?.argChoices ?? [])];
  return [
    { at, commands, flags: [...flags, help], values },
    ...command.commands.flatMap((inner) => spotsOf(inner, `${at} ${inner.name()}`)),
  ];
}

/** The positions and flags after which the next word is a value, not a command. */
export function valueFlags(spots: readonly Spot[]): string[] {
  return spots.flatMap(({ at, flags }) =>
    flags.filter(({ takesValue }) => takesValue).map(({ name }) => `${at} ${name}`),
  );
}

/** For single quotes as bash and zsh read them. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
