/** What an orchestrator does itself. What happens on the board is in the log, for all processes. */
export interface BoardNews {
  readonly at_ms: number;
  readonly what:
    | 'up'
    | 'bid'
    | 'started'
    | 'adopted'
    | 'queued'
    | 'delivered'
    | 'failed'
    | 'cancelled'
    | 'warning'
    | 'store';
  readonly agent_id?: string | undefined;
  readonly claim_id?: string | undefined;
  readonly phase?: string | undefined;
  readonly artefact_id?: string | undefined;
  readonly artefact_type?: string | undefined;
  readonly text: string;
}
