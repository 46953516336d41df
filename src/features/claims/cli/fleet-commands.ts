import type { Command } from 'commander';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  conclude,
  declareCommon,
  mergedOptions,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { addExamples } from '../../../transports/cli/program/services.ts';
import type { StartOptions } from './start-command.ts';

/** `cox start`: `route_work` under the name that fleets use. */
export function declareFleet(program: Command, terminal: Terminal, result: Result): void {
  const start = program
    .command('start')
    .description('What to take next, and why; for you or for several agents.')
    .option('--agents <agents...>', 'For whom, such as alice=architect bob (default: you)')
    .option('--limit <number>', 'At most so many warnings, groups and the like (default 20)')
    .action(async (_options, chosen: Command) => {
      const options = mergedOptions<StartOptions>(chosen);
      const { start: run } = await import('./start-command.ts');
      await conclude(terminal, await run(options, terminal), options, result);
    });
  declareCommon(start, 'identity');
  addExamples(start, ['cox start', 'cox start --agents alice=architect bob=tdd_engineer --json']);
}
