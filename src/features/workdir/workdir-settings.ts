const HOUR_MS = 3_600_000;

export interface WorkdirSettings {
  /** A task in progress for longer is flagged. */
  readonly timeout_ms: number;
  /** An agent that has something to do and gives no sign of life for longer is flagged. */
  readonly silent_ms: number;
  /** A task that has been done for longer is archived. */
  readonly archive_ms: number;
  /** A task that would change what another task is changing waits in the inbox. */
  readonly serialise_conflicts: boolean;
  /** The tasks are mirrored to the repository's store even if the caller names no store. */
  readonly mirror: boolean;
  /** Tasks of the queue that become files, by their type (`*`: any other), with the agent for each. */
  readonly take_from_queue: Readonly<Record<string, string>>;
}

export const DEFAULT_WORKDIR: WorkdirSettings = {
  timeout_ms: 2 * HOUR_MS,
  silent_ms: 24 * HOUR_MS,
  archive_ms: 30 * 24 * HOUR_MS,
  serialise_conflicts: false,
  mirror: false,
  take_from_queue: {},
};
