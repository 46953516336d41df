import { Argument, type Command } from 'commander';
import type { WatchOptions } from '../../../features/overview/cli/index.ts';
import type { Shell } from '../completion/completion.ts';
import type { DemoOptions } from '../demo/demo.ts';
import { declareCommon, mergedOptions, type Result } from '../program/common.ts';
import { examples } from '../program/services.ts';
import type { Terminal } from './terminal.ts';

/** The commands for people who watch or inspect; each is loaded only when used. */
export function declareLooks(program: Command, terminal: Terminal, result: Result): void {
  const watch = program
    .command('watch')
    .description('The status, live; in a pipe, a line for each event.')
    .option(
      '--since <position>',
      'Tell what happened after that position of the log (0: all of it), then go on.',
    )
    .option('--once', 'Draw one picture, or tell what there is, and end.')
    .addHelpText('after', examples('cox watch', 'cox watch --json --since 0 | jq .type', 'cox watch --once'))
    .action(async (_options, command: Command) => {
      const { watch: run } = await import('../../../features/overview/cli/watch-command.ts');
      await run(mergedOptions<WatchOptions>(command), terminal, result);
    });
  declareCommon(watch, 'store');
  program
    .command('demo')
    .description('Six agents contend, wait, crash, hand over: all in a minute.')
    .option('--fast', 'Without pauses for reading.')
    .option('--keep', 'Leave the scratch repository and its store for a look.')
    .option('--json', 'Print exactly one JSON object, at the end.')
    .option('--color', 'Colour, whoever reads it.')
    .option('--no-color', 'No colour.')
    .addHelpText('after', examples('cox demo', 'cox demo --fast --keep'))
    .action(async (_options, command: Command) => {
      const { demo } = await import('../demo/demo.ts');
      await demo(mergedOptions<DemoOptions>(command), terminal, result);
    });
  program
    .command('completion')
    .description('For your shell: completes commands, flags and their values.')
    .addArgument(new Argument('<shell>', 'Which shell.').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      examples('source <(cox completion bash)', 'cox completion fish > ~/.config/fish/completions/cox.fish'),
    )
    .action(async (shell: Shell) => {
      const { printCompletion } = await import('../completion/completion.ts');
      await printCompletion(shell, program, terminal);
    });
}
