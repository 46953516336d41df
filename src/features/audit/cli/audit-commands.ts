import type { Command } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import type { ArchiveOptions, AuditVerifyOptions, PruneOptions } from './audit-command.ts';

type Run<O> = (options: O, terminal: Terminal) => Promise<JsonObject>;

/**
 * Commands on the trail for people with direct access to the store: besides the operations of the group, not
 * among them.
 */
export function declareAudit(program: Command, terminal: Terminal, result: Result): void {
  const group = program.commands.find((command) => command.name() === 'audit');
  if (group === undefined) return;
  const declare = <O extends CommonOptions>(
    verb: string,
    description: string,
    examples: readonly string[],
    load: () => Promise<Run<O>>,
  ): Command => {
    const command = group.command(verb).summary(description).description(description);
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
    declareCommon(command, 'identity');
    return command.action(async (_options, chosen: Command) => {
      const options = mergedOptions<O>(chosen);
      const run = await load();
      await conclude(terminal, await run(options, terminal), options, result);
    });
  };
  declare<CommonOptions>(
    'seal',
    'Seal the log up to its end now; `cox serve` and `cox mcp` do it all the time.',
    ['cox audit seal', 'cox audit seal --json'],
    async () => (await import('./audit-command.ts')).sealLog,
  );
  declare<AuditVerifyOptions>(
    'verify',
    'Recompute the chain over all sealed rows; names the first one that was changed, removed, moved or added.',
    ['cox audit verify', 'cox audit verify --expect 3f1c… --json'],
    async () => (await import('./audit-command.ts')).verifyLog,
  ).option('--expect <hash>', 'A head_hash that was kept elsewhere: the chain must still contain it.');
  declare<PruneOptions>(
    'prune',
    'Remove rows of reads and refusals older than AUDIT_RETENTION_DAYS (90). What happened stays.',
    ['cox audit prune --dry-run', 'cox audit prune --before 2026-03-01'],
    async () => (await import('./audit-command.ts')).pruneLog,
  )
    .option('--before <date>', 'Older than this instead.')
    .option('--dry-run', 'Only say how much it would be.');
  declare<ArchiveOptions>(
    'archive',
    'Move what happened before a date into a file, which `cox replay --archive` reads.',
    ['cox audit archive --before 2026-03-01 --to 2026-02.jsonl'],
    async () => (await import('./audit-command.ts')).archiveLog,
  )
    .option('--before <date>', 'Only segments of the log that ended before it.')
    .option('--to <file>', 'Where to; there must be no such file yet.');
}
