export { sessionChangesEntity } from './session-changes.ts';
export { changesetEntity } from './state.ts';
