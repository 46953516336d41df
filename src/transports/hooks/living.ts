/** Everything that a session's lifecycle needs, as one chunk of the bundle (scripts/hook-bundle.ts). */

export { changedDuring } from './command-changes.ts';
export { openHookLedger } from './hook-ledger.ts';
export { noteFailure } from './hook-log.ts';
export { placeOn } from './hook-place.ts';
export { afterTool, sessionEnd, sessionStart, turnEnd } from './lifecycle.ts';
