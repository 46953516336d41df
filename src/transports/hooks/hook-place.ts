import type { Actor } from '../../ledger/log.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { openOn } from '../../runtime/open.ts';
import { environmentCapabilities } from '../shared/identity.ts';
import type { HookLedger } from './hook-ledger.ts';

/** What a hook works with, and the agent it acts for. */
export interface HookPlace {
  readonly coxswain: Coxswain;
  readonly connection: Connection;
  readonly actor: Actor;
  readonly env: NodeJS.ProcessEnv;
}

export async function placeOn({ actor, options, ...ledger }: HookLedger): Promise<HookPlace> {
  const { env } = ledger;
  const coxswain = await openOn(ledger, options);
  const capabilities = environmentCapabilities(env);
  const connection = coxswain.connect(actor, 'operator', { capabilities, door: 'hook' });
  return { coxswain, connection, actor, env };
}
