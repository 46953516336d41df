import type { Command } from 'commander';
import { declareCommon, mergedOptions, type Result } from './common.ts';
import type { CoordinateOptions } from './coordinate.ts';
import { examples } from './services.ts';
import type { Terminal } from './terminal.ts';

export function declareCoordinate(program: Command, terminal: Terminal, result: Result): void {
  const coordinate = program
    .command('coordinate')
    .argument('[dir]', 'The work directory, or the folder it is in.')
    .summary('One pass over a work directory: assign, chain, watch, report.')
    .description(
      'One pass over a work directory of task files: assigns what is new, creates follow-ups, finds conflicts and what is stuck, reports and archives. It keeps nothing but the files.',
    )
    .option('--dry-run', 'Only say what would be done.')
    .option('--watch', 'Go on, pass after pass, until Ctrl-C.')
    .option('--every <seconds>', 'With --watch: so long between passes (default: 30)')
    .addHelpText(
      'after',
      examples(
        'cox coordinate',
        'cox coordinate work/collaboration --dry-run',
        'cox coordinate --watch --every 10',
      ),
    )
    .action(async (dir: string | undefined, _options, command: Command) => {
      const { coordinateCommand } = await import('./coordinate.ts');
      await coordinateCommand(dir, mergedOptions<CoordinateOptions>(command), terminal, result);
    });
  declareCommon(coordinate, 'store');
}
