import type { JsonObject } from '../../../kernel/json.ts';
import type { Phase } from '../board-settings.ts';
import type { AgentConfig } from '../files/agent-config.ts';

/** One grant to work on. */
export interface GrantAssignment {
  readonly claim_id: string;
  readonly phase: Phase;
  /** Starts at 1; every retry is a new attempt. */
  readonly attempt: number;
  /**
   * One name for this attempt, on any machine and after any restart. Its folder, processes and container are
   * named after it.
   */
  readonly run_id: string;
  /** `<role>-<claim>-<n>` if the agent has workers, else the agent's name. */
  readonly worker: string;
  readonly agent: AgentConfig;
  /** What the process reads: `{claim_type, target_artefact, context_chain}`. */
  readonly input: JsonObject;
  /** What is left of the grant's time. */
  readonly limit_ms: number;
}

/** The output of one execution, judged by the contract. */
export type Delivery =
  | {
      readonly ok: true;
      readonly artefact_type: string;
      /** As it was printed; if it was not a string, its JSON. */
      readonly artefact_payload: string;
      readonly summary: string;
      readonly structural_type?: string | undefined;
    }
  | { readonly ok: false; readonly failure: ToolFailure };

/** The payload of a Failure artefact of type `ToolExecutionFailure`. Each text has at most 5,000 characters. */
export interface ToolFailure {
  readonly reason: string;
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string;
}

/**
 * How an agent's command is run. Both kinds leave their results in the run's folder, so that a later process
 * can collect them.
 */
export interface Execution {
  /**
   * Settles when the command has ended, was ended because of its time or its output, or could not be started.
   * Never rejects.
   */
  readonly delivered: Promise<Delivery>;
  /** Ends all processes that belong to it; `delivered` then says why. */
  cancel(reason: string): void;
}
