import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';
import type { RunVerificationOptions } from './run-verification.ts';

/** What a status means to a shell; 3 is "waits for a person" everywhere. */
const CODES: Readonly<Record<string, number>> = {
  passed: 0,
  skipped: 0,
  nothing_to_verify: 0,
  waiting_for_person: 3,
};

/** `cox verify`, and what the group of the operations has beside them. */
export function declareVerify(program: Command, terminal: Terminal, result: Result): void {
  const verify = program
    .command('verify')
    .description('Verify a commit as the policies say, in a clean work tree.')
    .argument('[commit]', 'A commit or a changeset (default: HEAD)')
    .option('--base <commit>', 'What it is held against besides its parent.')
    .option('--force', 'Once more, in spite of a result; for a person.')
    .option('--watch', 'Take whatever is queued, until Ctrl-C.')
    .action(async (commit: string | undefined, _options, chosen: Command) => {
      const options = mergedOptions<RunVerificationOptions>(chosen);
      const { verify: run } = await import('./run-verification.ts');
      const answer = await run(commit, options, terminal);
      await conclude(terminal, answer, options, result);
      if (typeof answer.status === 'string') result.code = CODES[answer.status] ?? 1;
    });
  declareCommon(verify, 'identity');
  addExamples(verify, ['cox verify', 'cox verify HEAD~1 --json', 'cox verify --watch']);

  const group = program.commands.find((command) => command.name() === 'verification');
  const apply = group
    ?.command('apply')
    .summary('Set all policies of a YAML file at once; for a person, or at trust level 4.')
    .description('Set all policies of a YAML file at once; for a person, or at trust level 4.')
    .argument('<file>', 'policies: with the fields of `cox verification set`')
    .action(async (file: string, _options, chosen: Command) => {
      const options = mergedOptions<CommonOptions>(chosen);
      const { applyPolicies } = await import('./run-verification.ts');
      await conclude(terminal, await applyPolicies(file, options, terminal), options, result);
    });
  if (apply === undefined) return;
  declareCommon(apply, 'identity');
  addExamples(apply, ['cox verification apply verification.yaml']);
}
