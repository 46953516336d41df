import { command } from '../../ledger/decision.ts';
import { createKey as decideCreateKey, revokeKey as decideRevokeKey } from './change-keys.ts';

export const createKey = command('create_key', decideCreateKey);
export const revokeKey = command('revoke_key', decideRevokeKey);
