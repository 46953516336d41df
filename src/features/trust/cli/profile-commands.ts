import type { Command } from 'commander';
import { isRefusal } from '../../../kernel/refusal.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  cliIdentity,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';

/** Besides the operations of the group: the rules as the file that `cox profile apply` reads. */
export function declareProfiles(program: Command, terminal: Terminal, result: Result): void {
  const group = program.commands.find((command) => command.name() === 'profile');
  if (group === undefined) return;
  const summary = 'Print profiles, assignments and settings as the YAML that `cox profile apply` reads.';
  const command = group.command('export').summary(summary).description(summary);
  command.option('--all', 'Shipped profiles that nobody has changed, too.');
  declareCommon(command, 'identity');
  addExamples(command, ['cox profile export > profiles.yaml', 'cox profile export --all']);
  command.action(async (_options, chosen: Command) => {
    const options = mergedOptions<{ all?: boolean; json?: boolean }>(chosen);
    const who = cliIdentity(options, terminal.env);
    if (!who.ok) return await conclude(terminal, who.refusal, options, result);
    const { exportProfiles } = await import('./profile-export.ts');
    const answer = await withStoreThere(options, terminal, (coxswain) =>
      exportProfiles(coxswain, options.all === true),
    );
    if (options.json === true || isRefusal(answer)) await conclude(terminal, answer, options, result);
    else await terminal.out(String(answer.document));
  });
}
