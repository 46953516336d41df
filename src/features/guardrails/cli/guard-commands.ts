import type { Command } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';
import { typedWords } from '../../../transports/cli/program/typed-words.ts';
import type { GuardRunOptions } from './guard-run.ts';

type Run = (terminal: Terminal, file: string | undefined) => Promise<JsonObject>;

/**
 * Besides the operations of the group: the shipped patterns, and whether a project's own file does what it
 * says.
 */
export function declareGuard(program: Command, terminal: Terminal, result: Result): void {
  const group = program.commands.find((command) => command.name() === 'guard');
  if (group === undefined) return;
  describeShortForm(group);
  const declare = (verb: string, summary: string, examples: readonly string[]): Command => {
    const command = group.command(verb).summary(summary).description(summary);
    declareCommon(command, 'identity');
    addExamples(command, examples);
    return command;
  };
  const concluding = async (chosen: Command, run: Run, file?: string): Promise<void> => {
    const options = mergedOptions<CommonOptions>(chosen);
    await conclude(terminal, await run(terminal, file), options, result);
  };
  declare('test', "Check a project's guardrails.yaml and run the tests in it.", [
    'cox guard test',
    'cox guard test ci/guardrails.yaml --json',
  ])
    .argument('[file]', 'The file (default: COX_GUARDRAILS, else guardrails.yaml at the root).')
    .action(async (file: string | undefined, _options, chosen: Command) =>
      concluding(chosen, (await import('./guard-command.ts')).testGuardrails, file),
    );
  declare('patterns', 'List every pattern that ships and those of this project.', [
    'cox guard patterns',
    'cox guard patterns --json',
  ]).action(async (_options, chosen: Command) =>
    concluding(chosen, (await import('./guard-command.ts')).listPatterns),
  );
  declare('run', 'Judge a command as the hooks do and, if nothing is against it, run it.', [
    'cox guard -- git push --force origin main',
    "cox guard run --dry-run -- 'rm -rf build && make'",
  ])
    .usage('[options] -- <command...>')
    .argument('<command...>', 'A program and its arguments, or one command line.')
    .option('--dry-run', 'Only say what would come of it; nobody is asked, no approval used up, nothing run.')
    .passThroughOptions()
    .action(async (words: string[], _options, chosen: Command) => {
      const { guardRun } = await import('./guard-run.ts');
      const options = mergedOptions<GuardRunOptions>(chosen);
      const ended = await guardRun(words, options, terminal);
      if (typeof ended === 'number') result.code = ended;
      else await conclude(terminal, ended, options, result);
    });
}

/** Without a verb the group does more than its name says. */
function describeShortForm(group: Command): void {
  const summary = group.description();
  group
    .summary(summary)
    .description(
      `${summary}\n\nWith a command after --, it is judged and, if nothing is against it, RUN: \`cox guard -- CMD\` is \`cox guard run -- CMD\`.`,
    )
    .usage('<verb> [options]\n       cox guard [options] -- <command...>')
    // Directly below the examples of the verbs.
    .addHelpText('after', '  cox guard --agent alice -- git push --force origin main');
}

/** `cox guard -- git push` is `cox guard run -- git push`. */
export function guardAsRun(argv: readonly string[], program: Command): string[] {
  const { at, dashes } = typedWords(argv, program.options);
  const [first = -1] = at;
  if (dashes === -1 || at.length !== 1 || argv[first] !== 'guard') return [...argv];
  return [...argv.slice(0, first + 1), 'run', ...argv.slice(first + 1)];
}
