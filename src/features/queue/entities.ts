export { taskEntity } from './state.ts';
export { holderEntity } from './terms.ts';
export { lineEntity } from './work-line.ts';
