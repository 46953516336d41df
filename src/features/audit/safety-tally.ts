import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { EventBody } from '../../ledger/entity.ts';

/** Runs and requests that are under way at once; beyond that the oldest are forgotten, and not counted. */
const UNDER_WAY_MAX = 10_000;

interface Run {
  /** Of one policy about one change: a later run is not the first. */
  readonly attempt: string;
  readonly changeset_id: string;
  readonly queued_ms: number;
}

/** What the metrics of verification, guardrails and approvals need from the log. */
export class SafetyTally {
  verified = 0;
  verified_ms = 0;
  first_attempts = 0;
  first_passes = 0;
  /** Dangerous operations that were found before they were done, and those that a finished change gave away. */
  caught_before = 0;
  found_after = 0;
  /** Operations that were stopped and that a person then permitted. */
  stopped_wrongly = 0;
  readonly #submitted = new BoundedMap<number>(UNDER_WAY_MAX);
  readonly #runs = new BoundedMap<Run>(UNDER_WAY_MAX);
  readonly #attempted = new BoundedMap<true>(UNDER_WAY_MAX);
  readonly #stopped = new BoundedMap<true>(UNDER_WAY_MAX);

  add({ kind, id, type, data }: EventBody, at_ms: number): void {
    switch (type) {
      case 'changeset_submitted':
        this.#submitted.set(id, at_ms);
        break;
      case 'verification_queued':
        this.#queued(id, data, at_ms);
        break;
      case 'verification_finished':
        this.#finished(id, data.status, at_ms);
        break;
      case 'violation_recorded':
        if ((data.context as { kind?: unknown } | undefined)?.kind === 'change') this.found_after += 1;
        else this.caught_before += 1;
        break;
      case 'approval_requested':
        if (Array.isArray(data.findings) && data.findings.length > 0) this.#stopped.set(id, true);
        break;
      case 'approval_approved':
        if (kind === 'approval' && this.#stopped.get(id) === true) this.stopped_wrongly += 1;
        break;
    }
  }

  #queued(id: string, { changeset_id, policy }: EventBody['data'], queued_ms: number): void {
    const attempt = JSON.stringify([
      changeset_id,
      (policy as { name?: unknown } | undefined)?.name ?? policy,
    ]);
    this.#runs.set(id, { attempt, changeset_id: String(changeset_id), queued_ms });
  }

  #finished(id: string, status: unknown, at_ms: number): void {
    const run = this.#runs.get(id);
    if (run === undefined || status === 'skipped') return;
    this.verified += 1;
    this.verified_ms += at_ms - (this.#submitted.get(run.changeset_id) ?? run.queued_ms);
    if (this.#attempted.get(run.attempt) === true) return;
    this.#attempted.set(run.attempt, true);
    this.first_attempts += 1;
    if (status === 'passed') this.first_passes += 1;
  }
}
