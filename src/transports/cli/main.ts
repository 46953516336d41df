import { type Command, CommanderError } from 'commander';
import { guardAsRun } from '../../features/guardrails/cli/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import { nearest } from '../../kernel/nearest.ts';
import { type Refusal, refuse, StoreFailure } from '../../kernel/refusal.ts';
import { EXIT_CODES, OutputFailure, refusalOf, verdictOf } from '../../runtime/answer.ts';
import { operations } from '../../runtime/operation-list.ts';
import { print, processTerminal, type Terminal } from './output/terminal.ts';
import type { Result } from './program/common.ts';
import { buildProgram } from './program/program.ts';
import { typedWords } from './program/typed-words.ts';

/** `argv` is without node and script. Answers the exit code. */
export async function main(argv: string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    return await answer(argv, terminal);
  } catch (error) {
    // Most likely the answer could not be written, so it is not tried there again.
    const { message } = error instanceof OutputFailure ? error : refusalOf(error);
    await terminal.err(`cox: ${message}\n`).catch(() => {});
    return EXIT_CODES.fault;
  }
}

async function answer(argv: string[], terminal: Terminal): Promise<number> {
  const result: Result = { code: 0 };
  const written: string[] = [];
  const help: string[] = [];
  const output = {
    writeOut: (text: string) => written.push(text),
    writeErr: (text: string) => help.push(text),
    getOutHelpWidth: () => Math.min(terminal.columns, 120),
    getErrHelpWidth: () => Math.min(terminal.columns, 120),
  };
  const program = await buildProgram(terminal, result, output, argv[0]);
  try {
    await program.parseAsync(helpAsFlag(guardAsRun(argv, program), program), { from: 'user' });
    return result.code;
  } catch (error) {
    // What stood in the way of the command before it could answer by itself.
    if (error instanceof StoreFailure) return await conclude(terminal, argv, error.refusal);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) {
      await terminal.out(written.join(''));
      return 0;
    }
    if (error.code === 'commander.help' && !wantsJson(argv)) {
      await terminal.err(help.join(''));
      return 2;
    }
    return await conclude(terminal, argv, usageRefusal(error, argv, program));
  }
}

/** `cox help lock acquire` is `cox lock acquire --help`, as deep as it goes; without the flag where there is no such command. */
function helpAsFlag(argv: readonly string[], program: Command): string[] {
  const [first, ...words] = argv;
  if (first !== 'help') return [...argv];
  let command: Command | undefined = program;
  for (const word of words.filter((each) => !each.startsWith('-')))
    command = command?.commands.find((inner) => inner.name() === word);
  return command === undefined ? words : [...words, '--help'];
}

async function conclude(terminal: Terminal, argv: readonly string[], refusal: Refusal): Promise<number> {
  const color = named(argv, '--no-color') ? false : named(argv, '--color') || undefined;
  await print(terminal, refusal, { json: wantsJson(argv), color, now_ms: systemClock.now_ms() });
  return EXIT_CODES[verdictOf(refusal)];
}

/** After a usage error the parser's own idea of the flags is not to be had. */
function wantsJson(argv: readonly string[]): boolean {
  return named(argv, '--json');
}

function named(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes(flag);
}

function usageRefusal(error: CommanderError, argv: readonly string[], program: Command): Refusal {
  const said = error.message
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (error.code === 'commander.help')
    return refuse('unknown_operation', 'The command is incomplete; see --help.');
  if (error.code !== 'commander.unknownCommand') {
    const flag = /--[\w-]+/.exec(said)?.[0];
    const field = flag === undefined ? 'arguments' : flag.slice(2).replaceAll('-', '_');
    return refuse('invalid_input', `${said}; see --help.`, { field });
  }
  const unknown = /'(.*)'/.exec(said)?.[1] ?? '';
  const hint = hintFor(unknown, argv, program);
  return refuse('unknown_operation', `There is no command ${JSON.stringify(unknown)}.${hint}`, {
    field: 'command',
  });
}

function hintFor(unknown: string, argv: readonly string[], program: Command): string {
  const didYouMean = (near: readonly string[]) =>
    near.length === 0 ? '' : ` Did you mean: ${near.join(', ')}?`;
  // Who knows the tools' names gets the command of that name.
  const meant = operations.find(({ name }) => name === unknown.replaceAll('-', '_'));
  if (meant !== undefined) return didYouMean([`cox ${meant.group} ${meant.verb}`]);
  const { at } = typedWords(argv, program.options);
  const words = at.map((index) => argv[index] ?? '').filter((word, place) => place > 0 || word !== 'help');
  const group = program.commands.find((command) => command.name() === words[0]);
  // Who named a group wants something of it, and what sounds alike in another group is something else.
  if (group !== undefined && group.commands.length > 0) {
    const verbs = group.commands.map((command) => command.name());
    const near = nearest(unknown, verbs).map((verb) => `cox ${group.name()} ${verb}`);
    return near.length > 0 ? didYouMean(near) : ` cox ${group.name()} has: ${verbs.join(', ')}.`;
  }
  const commands = operations.map(({ group: name, verb }) => `cox ${name} ${verb}`);
  const others = program.commands.map((command) => `cox ${command.name()}`);
  return didYouMean(nearest(`cox ${words.slice(0, 2).join(' ')}`, [...commands, ...others]));
}
