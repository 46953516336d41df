import type { Client } from './client.ts';
import { type ConnectOptions, chooseTarget } from './client-options.ts';

/** Only the module that is needed is loaded. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const target = chooseTarget(options, process.env);
  if (target.kind === 'local') return await (await import('./local.ts')).connectLocal(target);
  return (await import('./remote.ts')).connectRemote(target);
}
