import type { Command } from 'commander';
import { CLIENTS } from '../shared/agent-clients.ts';
import type { Terminal } from './output/terminal.ts';
import type { Result } from './program/common.ts';
import { examples } from './program/services.ts';

/**
 * `cox hook`: the program that clients start for their hooks, run from the sources. `dist/hook.cjs` is the
 * same, bundled.
 */
export function declareHook(program: Command, _terminal: Terminal, result: Result): void {
  program
    .command('hook')
    .description('Answer one hook of an agent client, whose JSON comes on stdin.')
    .argument('<client>', CLIENTS.join(', '))
    .argument('<event>', 'session-start, before-tool, after-tool, turn-end or session-end')
    .option('--locks <policy>', 'auto, require or warn (default: auto)')
    .option('--store <url>', 'As for every command.')
    .addHelpText('after', examples('cox hook claude-code before-tool --locks require < payload.json'))
    .action(async (client: string, event: string, { locks, store }: { locks?: string; store?: string }) => {
      const flags = [
        ...(locks === undefined ? [] : ['--locks', locks]),
        ...(store === undefined ? [] : ['--store', store]),
      ];
      const { main } = await import('../hooks/hook-main.ts');
      result.code = await main([client, event, ...flags]);
    });
}
