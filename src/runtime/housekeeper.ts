import { HOUSEKEEPER } from '../ledger/log.ts';
import type { Connection } from './coordinator.ts';
import type { Coxswain } from './coxswain.ts';

/** The product's own connection: what it does on its own account. */
export function housekeeperOf(coxswain: Coxswain): Connection {
  return coxswain.connect(HOUSEKEEPER, 'operator', { shows: 'never' });
}
