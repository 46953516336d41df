/** All that a check before a tool needs, in one piece of the bundle (scripts/hook-bundle.ts). */
export { guard } from './guard-edit.ts';
export { noteFailure } from './hook-log.ts';
export { openPlace } from './hook-place.ts';
