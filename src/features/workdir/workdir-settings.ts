const HOUR_MS = 3_600_000;

export interface WorkdirSettings {
  /** In progress for longer: flagged. */
  readonly timeout_ms: number;
  /** An agent that has something to do and gives no sign for longer: flagged. */
  readonly silent_ms: number;
  /** Done for longer: archived. */
  readonly archive_ms: number;
  /** A task that would change what another one is changing waits in the inbox. */
  readonly serialise_conflicts: boolean;
  /** The tasks are shown in the repository's store, too, also where nobody names one. */
  readonly mirror: boolean;
  /** Tasks of the queue that become files, by their type (`*`: any other), and for whom. */
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
