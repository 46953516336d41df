import type { ExecutorName, VerificationPolicy } from '../verification-policy.ts';
import type { External, RunResult } from '../verification-run.ts';

/** One run, with everything that its executor has to know. */
export interface VerificationJob {
  readonly run_id: string;
  readonly commit_sha: string;
  readonly policy: VerificationPolicy;
  /** A work tree of the repository that has the commit. */
  readonly root: string;
  /** The runner's own environment: what it is set up by, and what a policy may name variables of. */
  readonly env: NodeJS.ProcessEnv;
}

/** The result; or the run was handed to a service that reports later. */
export type Done = RunResult | { readonly status: 'dispatched'; readonly external: External };

export interface Executor {
  readonly name: ExecutorName;
  /** What is missing for it to work here; undefined: nothing. */
  missing(env: NodeJS.ProcessEnv): Promise<string | undefined>;
  /** Aborted: the runner stops, or another one has taken over. Whatever was started is ended then. */
  run(job: VerificationJob, signal: AbortSignal): Promise<Done>;
}

export function failedToRun(error: unknown): RunResult {
  return { status: 'error', error_message: error instanceof Error ? error.message : String(error) };
}
