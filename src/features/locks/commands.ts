import { command } from '../../ledger/decision.ts';
import { acquireLock as decideAcquireLock } from './acquire-lock.ts';
import {
  awaitLock as decideAwaitLock,
  tidyLocks as decideTidyLocks,
  withdrawLock as decideWithdrawLock,
} from './await-lock.ts';
import { releaseLock as decideReleaseLock, releaseLocks as decideReleaseLocks } from './release-lock.ts';

export const acquireLock = command('acquire_lock', decideAcquireLock);
export const awaitLock = command('await_lock', decideAwaitLock);
export const withdrawLock = command('withdraw_lock', decideWithdrawLock);
export const tidyLocks = command('tidy_locks', decideTidyLocks);
export const releaseLock = command('release_lock', decideReleaseLock);
export const releaseLocks = command('release_locks', decideReleaseLocks);
