import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';
import type { DecisionOptions } from './approve-command.ts';

/** The commands with which a person decides about approvals. */
export function declareDecisions(program: Command, terminal: Terminal, result: Result): void {
  const declare = (verb: 'approve' | 'deny', summary: string, lines: readonly string[]) => {
    const command = program
      .command(verb)
      .description(summary)
      .argument('<id>', 'The id, as `cox approval list` shows it.')
      .option(
        '--person-key-file <path>',
        'A file with your key (default: COX_PERSON_KEY, else this terminal)',
      )
      .option('--yes', 'With a person’s key: do not ask.');
    if (verb === 'approve') command.option('--reason <text>', 'Why it is all right.');
    else command.requiredOption('--reason <text>', 'Why not, and what to do instead; the agent is told.');
    command.action(async (id: string, _options, chosen: Command) => {
      const options = mergedOptions<DecisionOptions>(chosen);
      const { decide } = await import('./approve-command.ts');
      await conclude(terminal, await decide(verb, id, options, terminal), options, result);
    });
    declareCommon(command, 'store');
    addExamples(command, lines);
  };
  declare('approve', 'Look at what waits for you, and permit it, once.', [
    'cox approve 3f9a2c81d04e',
    'cox approve 3f9a2c81d04e --person-key-file ~/.cox-key --yes --json',
  ]);
  const group = program.commands.find((each) => each.name() === 'approval');
  if (group === undefined) throw new Error('approvals are declared after the operations');
  const notify = group
    .command('notify')
    .description('Tell the configured channels what waits for a person; each is told once.')
    .action(async (_options, chosen: Command) => {
      const options = mergedOptions(chosen);
      const { notify: run } = await import('./notify-command.ts');
      await conclude(terminal, await run(options, terminal), options, result);
    });
  declareCommon(notify, 'store');
  addExamples(notify, ['COX_NOTIFY_FILE=notices.jsonl cox approval notify']);
  declare('deny', 'Look at what waits for you, and refuse it.', [
    'cox deny 3f9a2c81d04e --reason "push to a branch and open a pull request"',
  ]);
}
