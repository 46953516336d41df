import { type Command, Option } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { examples } from '../../../transports/cli/program/services.ts';
import type { DiffOptions } from './diff-command.ts';
import type { LogOptions } from './log-command.ts';
import type { ReplayOptions } from './replay-command.ts';

const ARCHIVE: readonly [string, string] = [
  '--archive <files...>',
  'Files that `cox audit archive` has moved a part of the log to.',
];
const KIND: readonly [string, string] = [
  '--kind <glob>',
  'Only what is of this kind: lock, task, claim, session …',
];
const ID: readonly [string, string] = [
  '--id <glob>',
  'Only these ids; of locks they are paths, so src/** is all below src.',
];

const TIMES = `
Times: 2026-03-01T12:00:00Z, "2026-03-01 12:00" (local), 90m, "2h ago", now, or
       #123: exactly behind that row of the log.`;

/** The log and what it says about any moment; each command is loaded only when used. */
export function declareTravel(program: Command, terminal: Terminal, result: Result): void {
  declareReplay(program, terminal, result);
  declareLog(program, terminal, result);
  declareDiff(program, terminal, result);
}

function declareReplay(program: Command, terminal: Terminal, result: Result): void {
  const replay = program
    .command('replay')
    .description('Rebuild the state from the log and compare; or at a past time.')
    .option('--at <time>', 'Show the state at that moment instead.')
    .option(...KIND)
    .option(...ID)
    .option('--limit <n>', 'So many of these records at most, or all (default: 1000)')
    .option(...ARCHIVE)
    .addHelpText('after', TIMES)
    .addHelpText(
      'after',
      examples(
        'cox replay',
        'cox replay --at "2h ago"',
        "cox replay --at '#1200' --kind lock --id 'src/**' --json",
      ),
    )
    .action(async (_options, command: Command) => {
      const options = mergedOptions<ReplayOptions>(command);
      const { replayLog } = await import('./replay-command.ts');
      await conclude(terminal, await replayLog(options, terminal), options, result);
    });
  declareCommon(replay, 'store');
}

function declareLog(program: Command, terminal: Terminal, result: Result): void {
  const log = program
    .command('log')
    .description('What happened, a line for each event, the newest last.')
    .option('--since <time>', 'From then on; behind that position.')
    .option('--until <time>', 'Up to then.')
    .option('--type <glob>', 'Only events of this type, such as lock_*.')
    .option('--agent <glob>', 'Only what these agents did.')
    .option('--feature <glob>', 'Only claims on these features.')
    .option('--edge <glob>', 'Only claims on this edge, however it is written.')
    .option('--operation <glob>', 'Only what came of this operation, such as acquire_lock.')
    .option(...KIND)
    .option(...ID)
    .option('--limit <n>', 'The newest so many, or all (default: 100 as text without --since, else all)')
    .addOption(
      new Option('--output <form>', 'How it is written (default: text)').choices(['text', 'jsonl', 'json']),
    )
    .option('--follow', 'Go on with what happens from now on.')
    .option('--all', 'Also what changed nothing: reads, refusals, bookkeeping.')
    .option(...ARCHIVE)
    .addHelpText('after', TIMES)
    .addHelpText(
      'after',
      examples(
        'cox log --since 2h --agent "alice*"',
        "cox log --feature 'FEAT-*' --edge 'design→code' --output jsonl",
        "cox log --follow --output jsonl --since '#1200'",
      ),
    )
    .action(async (_options, command: Command) => {
      const { agent: _, ...common } = mergedOptions<LogOptions>(command);
      // Before the command, `--agent` says who asks.
      const { agent } = command.opts<LogOptions>();
      const { showLog } = await import('./log-command.ts');
      await showLog({ ...common, ...(agent === undefined ? {} : { agent }) }, terminal, result);
    });
  declareCommon(log, 'store');
}

function declareDiff(program: Command, terminal: Terminal, result: Result): void {
  const diff = program
    .command('diff')
    .description('What is different between two moments.')
    .option('--from <time>', 'The earlier one.')
    .option('--to <time>', 'The later one (default: now)')
    .option(...KIND)
    .option(...ID)
    .option(...ARCHIVE)
    .addHelpText('after', TIMES)
    .addHelpText(
      'after',
      examples('cox diff --from "2h ago"', "cox diff --from '#1200' --to '#1300' --kind claim --json"),
    )
    .action(async (_options, command: Command) => {
      const { showDiff } = await import('./diff-command.ts');
      await showDiff(mergedOptions<DiffOptions>(command), terminal, result);
    });
  declareCommon(diff, 'store');
}
