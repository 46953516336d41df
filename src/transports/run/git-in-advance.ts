import { basename } from 'node:path';
import type { Actor } from '../../ledger/log.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { describeHeld } from '../shared/held-by-others.ts';

/**
 * Why a git command must not be started: it would come to a held file half-way, and leave the rest changed.
 * Only a git that is the command itself is looked at; what a shell or an agent starts is stopped by the kernel.
 */
export async function inTheWayOfGit(
  command: readonly string[],
  context: {
    readonly coxswain: Coxswain;
    readonly actor: Actor;
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<string | undefined> {
  if (basename(command[0] ?? '') !== 'git') return undefined;
  const { filesWritten } = await import('../../command-analysis/shell/analyse-shell.ts');
  const { cwd, env, coxswain } = context;
  const { everywhere } = filesWritten(command, { cwd, home: env.HOME });
  if (everywhere.length === 0) return undefined;
  const { endangered } = await import('../shared/whole-tree.ts');
  const found = await endangered(everywhere, context);
  return found && `${found.why}\n${describeHeld(found.held, coxswain.clock.now_ms())}`;
}
