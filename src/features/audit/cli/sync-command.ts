import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { examples } from '../../../transports/cli/program/services.ts';
import type { SyncOptions } from './run-sync.ts';

const WHAT = `
Copies what happened from one store into another: each row of the log once, however
often it is run. Locks, tasks, claims and all the rest are then the same in both.
Work goes on in one of the two: where both have gone on with the same thing, nothing
is copied, and you are told what it is.`;

export function declareSync(program: Command, terminal: Terminal, result: Result): void {
  const sync = program
    .command('sync')
    .description('Copy the log into another store, each row once: move house.')
    .argument('<from>', 'The store to copy from, as a URL like those of --store.')
    .argument('<to>', 'The store to copy into.')
    .option('--dry-run', 'Only say what would be copied.')
    .option('--archive <files...>', 'Files that `cox audit archive` has moved a part of either log to.')
    .addHelpText('after', WHAT)
    .addHelpText(
      'after',
      examples(
        'cox sync sqlite:.git/coxswain/cox.db postgres://cox@db.example.com/cox',
        'cox sync files:.ai-workspace "dynamodb://fleet?region=eu-west-1" --dry-run',
      ),
    )
    .action(async (from: string, to: string, _options, command: Command) => {
      const options = mergedOptions<SyncOptions>(command);
      const { syncStores } = await import('./run-sync.ts');
      await conclude(terminal, await syncStores(from, to, options, terminal), options, result);
    });
  declareCommon(sync, 'store');
  sync.options.find(({ long }) => long === '--store')?.hideHelp();
}
