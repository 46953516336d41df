import { permit } from '../../features/trust/rules/index.ts';
import type { HookLedger } from './hook-ledger.ts';
import { type Danger, isWorthJudging } from './touched.ts';

/** What a shell command needs that writes nothing and endangers nothing, as one chunk of the bundle (scripts/hook-bundle.ts). */
export { noteStart } from './command-start.ts';
export { openHookLedger } from './hook-ledger.ts';

/**
 * Whether the agent's profile lets it run such a command: one read, and nothing is put together to make calls with. False also
 * where more has to be looked at.
 */
export async function mayRun(ledger: HookLedger, danger: Danger | undefined): Promise<boolean> {
  if (danger !== undefined && isWorthJudging(danger, ledger.workspace.root, ledger.env)) return false;
  const { rules, actor } = ledger;
  const standing = await rules.standing(actor, 'hook', 'now');
  const needed = ['execute' as const, ...(danger?.permissions ?? [])];
  return needed.every(
    (permission) =>
      permit(standing, { operation: 'shell', permission, door: 'hook' }, rules.engine) === undefined,
  );
}
