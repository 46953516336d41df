/** The operations on locks. */
export { acquireLock } from './operations/acquire-lock-operation.ts';
export { checkLocks } from './operations/check-locks-operation.ts';
export { releaseLock } from './operations/release-lock-operation.ts';
