import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { declareCommon, mergedOptions, type Result } from '../../../transports/cli/program/common.ts';
import { examples } from '../../../transports/cli/program/services.ts';
import type { SerialiseOptions } from './serialise-log.ts';

export function declareSerialise(program: Command, terminal: Terminal, result: Result): void {
  const serialise = program
    .command('serialise')
    .description('Decide what agents have proposed in the inbox of a folder.')
    .option('--watch', 'Go on deciding as proposals come, until Ctrl-C.')
    .addHelpText(
      'after',
      examples(
        'cox serialise --store files:.ai-workspace',
        'cox serialise --store files:.ai-workspace --watch',
      ),
    )
    .action(async (_options, command: Command) => {
      const { serialise: run } = await import('./serialise-log.ts');
      await run(mergedOptions<SerialiseOptions>(command), terminal, result);
    });
  declareCommon(serialise, 'store');
}
