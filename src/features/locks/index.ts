/** What other slices, the runtime and the transports may use of locks. */
export { AUTOMATIC } from './automatic-lock.ts';
export { blocked } from './blocked.ts';
export { checkLocks, checkLocksMore, checkLocksNeeds } from './check-locks.ts';
export {
  type ExclusiveLock,
  everyExclusiveLock,
  everyPlace,
  exclusiveLocksInReach,
  filesHeld,
  type HeldBy,
} from './held-files.ts';
export { heldLocks } from './held-locks.ts';
export { acquireLock, releaseLock } from './operations.ts';
export { decideWith, furtherNeeds, type ReachFindings as Findings, reachOf } from './reach.ts';
export {
  areaOf,
  foldersKey,
  type Held,
  type LockState,
  lockEvent,
  lockedFolders,
  lockKey,
  placeOf,
  withFolders,
} from './state.ts';
