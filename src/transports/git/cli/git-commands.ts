import { type Command, Option } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Terminal } from '../../cli/output/terminal.ts';
import { conclude, declareCommon, mergedOptions, type Result } from '../../cli/program/common.ts';
import { addExamples } from '../../cli/program/services.ts';
import type { RunOptions } from '../../run/run-command.ts';
import { LOCK_POLICIES } from '../../shared/enforcement-policy.ts';
import { TOLD_HOOKS } from '../git-hook-script.ts';
import type { CommitOptions } from './git-check-command.ts';
import type { GitOptions } from './git-install-command.ts';

type Answering = (options: GitOptions, terminal: Terminal) => Promise<JsonObject>;

function locksOption(description: string): Option {
  return new Option('--locks <policy>', description).choices(LOCK_POLICIES).default('auto');
}

/** Installing and removing git hooks, and the checks that the hooks call. */
export function declareGit(program: Command, terminal: Terminal, result: Result): void {
  const group = program
    .command('git')
    .description('Git hooks that stop a commit of files that others hold.')
    .usage('<verb> [options]');
  addExamples(group, ['cox git install', 'cox git status', 'cox git uninstall']);
  const declare = (verb: string, summary: string, lines: readonly string[]): Command => {
    const command = group.command(verb).summary(summary).description(summary);
    declareCommon(command, 'identity');
    addExamples(command, lines);
    return command;
  };
  const answering = (command: Command, load: () => Promise<Answering>) =>
    command.action(async (_options, chosen: Command) => {
      const options = mergedOptions<GitOptions>(chosen);
      const answer = await (await load())(options, terminal);
      await conclude(terminal, answer, options, result);
    });
  answering(
    declare(
      'install',
      'Put hooks that check commits, rebases and pushes into this repository; hooks that are there run first.',
      ['cox git install', 'cox git install --locks require'],
    ).addOption(locksOption('require: without a store nothing is committed; warn: only say so')),
    async () => (await import('./git-install-command.ts')).installGitHooks,
  );
  answering(
    declare('uninstall', 'Take them away and put back what was there, byte for byte.', ['cox git uninstall']),
    async () => (await import('./git-install-command.ts')).uninstallGitHooks,
  );
  answering(
    declare('status', 'Which hooks are there, where, and whose commits go through them.', [
      'cox git status --json',
    ]),
    async () => (await import('./git-install-command.ts')).describeGitHooks,
  );
  declare('check-commit', 'What the hooks of a commit ask: does another agent hold a staged file?', [
    'cox git check-commit',
  ])
    .addOption(locksOption('As for `cox git install`'))
    .addOption(new Option('--hook <name>', 'Which of them asks').choices(TOLD_HOOKS))
    .action(async (_options, chosen: Command) => {
      const { checkCommit } = await import('./git-check-command.ts');
      result.code = await checkCommit(mergedOptions<CommitOptions>(chosen), terminal);
    });
  declare('check-push', 'What the pre-push hook asks; git tells it on stdin what is pushed.', [
    'cox git check-push origin < refs',
  ])
    .argument('[remote]', 'The name of the remote.')
    .addOption(locksOption('As for `cox git install`'))
    .action(async (remote: string | undefined, _options, chosen: Command) => {
      const { checkPush } = await import('./git-check-command.ts');
      result.code = await checkPush(remote ?? '', mergedOptions<GitOptions>(chosen), terminal);
    });
  declare(
    'check-rebase',
    'What the pre-rebase hook asks: does another agent hold a file that both sides have changed?',
    ['cox git check-rebase main'],
  )
    .argument('<upstream>', 'What the commits are not part of; --root for all of them.')
    .argument('[branch]', 'The branch, if it is not the one that is checked out.')
    .addOption(locksOption('As for `cox git install`'))
    .action(async (upstream: string, branch: string | undefined, _options, chosen: Command) => {
      const { checkRebase } = await import('./git-check-command.ts');
      result.code = await checkRebase(upstream, branch, mergedOptions<GitOptions>(chosen), terminal);
    });
}

/** `cox run -- aider`: everything after the command's name belongs to the command. */
export function declareRun(program: Command, terminal: Terminal, result: Result): void {
  const command = program
    .command('run')
    .description('Run any command as an agent: session, locks, clean-up.')
    .usage('[options] -- <command...>')
    .argument('<command...>', 'The command and its arguments.')
    .option('--name <name>', "What it is called (default: the command's name)")
    .addOption(locksOption('require: stop it when it changes what others hold; warn: take no locks'))
    .addOption(
      new Option(
        '--protect <when>',
        'Whether the kernel keeps files that others hold read-only for it: auto (where it can), require or off',
      ).choices(['auto', 'require', 'off']),
    )
    .passThroughOptions()
    .action(async (words: string[], _options, chosen: Command) => {
      const { runCommand } = await import('../../run/run-command.ts');
      const options = mergedOptions<RunOptions>(chosen);
      const ended = await runCommand(words, options, terminal);
      if (typeof ended === 'number') result.code = ended;
      else await conclude(terminal, ended, options, result);
    });
  declareCommon(command, 'identity');
  addExamples(command, [
    'cox run -- aider src/app.ts',
    'cox run --protect require -- claude',
    'cox run --agent bob --locks require -- ./generate.sh',
  ]);
}
