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

/** `argv` comes without node and script. Returns the exit code. */
export async function main(argv: string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    return await answer(argv, terminal);
  } catch (error) {
    // Most likely the answer could not be written to stdout, so we don't try there again.
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
  const program = await buildProgram(terminal, result, output, argv[0], argv.includes('--all'));
  try {
    await program.parseAsync(helpAsFlag(guardAsRun(argv, program), program), { from: 'user' });
    return result.code;
  } catch (error) {
    // An error from before the command could answer by itself.
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

/**
 * `cox help lock acquire` becomes `cox lock acquire --help`, at any depth. The flag is left out if there is
 * no such command.
 */
function helpAsFlag(argv: readonly string[], program: Command): string[] {
  const [first, ...words] = argv;
  // `cox help --all`: the flag is the overview's.
  if (['help', '--help', '-h'].includes(first ?? '') && words.every((word) => word === '--all'))
    return ['--help'];
  if (first !== 'help') return [...argv];
  let command: Command | undefined = program;
  for (const word of words.filter((each) => !each.startsWith('-')))
    command = command?.commands.find((inner) => inner.name() === word || inner.aliases().includes(word));
  return command === undefined ? words : [...words, '--help'];
}

async function conclude(terminal: Terminal, argv: readonly string[], refusal: Refusal): Promise<number> {
  const color = named(argv, '--no-color') ? false : named(argv, '--color') || undefined;
  await print(terminal, refusal, { json: wantsJson(argv), color, now_ms: systemClock.now_ms() });
  return EXIT_CODES[verdictOf(refusal)];
}

/** After a usage error the parser does not tell us which flags it had read, so we look ourselves. */
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
  // A user who typed a tool's name is told the command for that tool.
  const meant = operations.find(({ name }) => name === unknown.replaceAll('-', '_'));
  if (meant !== undefined) return didYouMean([`cox ${meant.group} ${meant.verb}`]);
  const { at } = typedWords(argv, program.options);
  const words = at.map((index) => argv[index] ?? '').filter((word, place) => place > 0 || word !== 'help');
  const group = program.commands.find((command) => command.name() === words[0]);
  // If the group exists, only its own verbs are suggested: a similar name in another group means something
  // else.
  if (group !== undefined && group.commands.length > 0) {
    const verbs = group.commands.map((command) => command.name());
    const near = nearest(unknown, verbs).map((verb) => `cox ${group.name()} ${verb}`);
    return near.length > 0 ? didYouMean(near) : ` cox ${group.name()} has: ${verbs.join(', ')}.`;
  }
  const commands = operations.map(({ group: name, verb }) => `cox ${name} ${verb}`);
  const others = program.commands.map((command) => `cox ${command.name()}`);
  return didYouMean(nearest(`cox ${words.slice(0, 2).join(' ')}`, [...commands, ...others]));
}
