/** All that the life of a session needs, in one piece of the bundle (scripts/hook-bundle.ts). */
export { noteFailure } from './hook-log.ts';
export { openPlace } from './hook-place.ts';
export { afterTool, sessionEnd, sessionStart, turnEnd } from './lifecycle.ts';
