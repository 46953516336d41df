/** Everything that a check before a tool needs, as one chunk of the bundle (scripts/hook-bundle.ts). */
export { guard } from './guard-edit.ts';
export { noteFailure } from './hook-log.ts';
export { placeOn } from './hook-place.ts';
