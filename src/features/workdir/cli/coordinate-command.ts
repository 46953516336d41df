import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { declareCommon, mergedOptions, type Result } from '../../../transports/cli/program/common.ts';
import { examples } from '../../../transports/cli/program/services.ts';
import type { CoordinateOptions } from './run-coordinate.ts';

export function declareCoordinate(program: Command, terminal: Terminal, result: Result): void {
  const coordinate = program
    .command('coordinate')
    .argument('[dir]', 'The work directory, or the folder it is in.')
    .summary('One pass over a work directory: assign, chain, watch, report.')
    .description(
      'One pass over a work directory of task files: assigns what is new, creates follow-ups, finds conflicts and what is stuck, reports and archives. It keeps nothing but the files; with a store named (--store, COX_STORE, POSTGRES_DSN, or mirror: true in coordinator.yml) it also shows the tasks there and takes tasks from its queue.',
    )
    .option('--dry-run', 'Only say what would be done.')
    .option('--watch', 'Go on, pass after pass, until Ctrl-C.')
    .option('--every <seconds>', 'With --watch: so long between passes (default: 30)')
    .option('--commit', 'Commit the work directory, and nothing else, if the pass changed it.')
    .option('--push', 'Commit and push; when others were quicker, plan anew on what they pushed.')
    .option('--install <kind>', 'Write files for a scheduler: cron, systemd, github.', several)
    .option('--package <source>', 'With --install github: where CI gets cox from.')
    .option('--force', 'With --install: write over files that say something else.')
    .addHelpText(
      'after',
      examples(
        'cox coordinate',
        'cox coordinate work/collaboration --dry-run',
        'cox coordinate --watch --every 10',
        'cox coordinate --store sqlite:.git/coxswain/cox.db',
        'cox coordinate --push',
        'cox coordinate --install cron --install systemd --dry-run',
        'cox coordinate --install github --package vendor/coxswain',
      ),
    )
    .action(async (dir: string | undefined, _options, command: Command) => {
      const { coordinateCommand } = await import('./run-coordinate.ts');
      await coordinateCommand(dir, mergedOptions<CoordinateOptions>(command), terminal, result);
    });
  declareCommon(coordinate, 'store');
}

const several = (word: string, before: string[] = []) => [...before, word];
