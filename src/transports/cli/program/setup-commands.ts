import type { Command } from 'commander';
import { CLIENTS } from '../../shared/agent-clients.ts';
import { LOCK_POLICIES } from '../../shared/enforcement-policy.ts';
import type { DoctorOptions } from '../doctor/doctor.ts';
import type { InitOptions } from '../init/setup-request.ts';
import { SCOPES } from '../init/wiring.ts';
import type { Terminal } from '../output/terminal.ts';
import { declareCommon, mergedOptions, type Result } from './common.ts';
import { examples } from './services.ts';

/** Setting up agent clients and checking that they work; each command is loaded only when used. */
export function declareSetup(program: Command, terminal: Terminal, result: Result): void {
  const init = program
    .command('init')
    .summary('Wire Claude Code, Codex and Gemini CLI to this repository.')
    .description('Wire Claude Code, Codex and Gemini CLI to this repository: tools and lock checks.')
    .option('--client <names>', 'Which, with commas (default: those that are installed)')
    .option('--scope <scope>', 'For this repository, or for all of yours (default: project)')
    .option(
      '--locks <policy>',
      'Files an agent edits: auto locks them, require wants acquire_lock first, warn only says (default: auto)',
    )
    .option('--skills', 'Also the skills and the AGENTS.md paragraph that teach agents the tools.')
    .option('--git-hooks', 'Also git hooks that stop commits of files another agent holds.')
    .option(
      '--trust',
      'Also mark this repository, and exactly these hooks, as trusted in Codex and Gemini CLI.',
    )
    .option('--undo', 'Take all of it away again, byte for byte.')
    .option('--dry-run', 'Only show what would be changed.')
    .option('-y, --yes', 'Do not ask.')
    .addHelpText(
      'after',
      examples(
        'cox init',
        'cox init --yes --trust',
        'cox init --client claude-code,codex --locks require --yes',
        'cox init --undo',
      ),
    )
    .action(async (_options, command: Command) => {
      const { runInit } = await import('../init/init.ts');
      await runInit(mergedOptions<InitOptions>(command), terminal, result);
    });
  const words: Record<string, readonly string[]> = {
    client: CLIENTS,
    scope: SCOPES,
    locks: LOCK_POLICIES,
  };
  // Only for display: a wrong word is refused as on every other transport.
  for (const option of init.options) {
    const choices = words[option.name()];
    if (choices !== undefined) option.argChoices = [...choices];
  }
  const doctor = program
    .command('doctor')
    .summary('Check it end to end: Node, store, clients, MCP, hooks.')
    .description('Check it end to end: Node, store, each client, a round trip through MCP and hooks.')
    .addHelpText('after', examples('cox doctor', 'cox doctor --json'))
    .action(async (_options, command: Command) => {
      const { runDoctor } = await import('../doctor/doctor.ts');
      await runDoctor(mergedOptions<DoctorOptions>(command), terminal, result);
    });
  for (const command of [init, doctor]) declareCommon(command, 'store');
}
