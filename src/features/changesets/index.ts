/** What other slices, the runtime and the transports may use of changesets. */
export { CommitReader, commitService } from './commit-reader.ts';
export { changesNoted, sessionChangesKey } from './session-changes.ts';
export {
  type Changeset,
  changesetEvent,
  changesetKey,
  changesetRange,
  changesetsIn as listChangesets,
  keptFiles,
  type NewChangeset,
  type Routed,
  unwitnessed,
} from './state.ts';
