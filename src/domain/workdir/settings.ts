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
}

export const DEFAULT_WORKDIR: WorkdirSettings = {
  timeout_ms: 2 * HOUR_MS,
  silent_ms: 24 * HOUR_MS,
  archive_ms: 30 * 24 * HOUR_MS,
  serialise_conflicts: false,
};
