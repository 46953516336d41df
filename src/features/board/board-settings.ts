/** In the order in which a claim goes through them. */
export const PHASES = ['review', 'parallel', 'exclusive'] as const;
export type Phase = (typeof PHASES)[number];

/** `claim` is a bid for the parallel phase. */
export const BIDS = ['review', 'claim', 'exclusive', 'ignore'] as const;
export type Bid = (typeof BIDS)[number];

/** What happens to a claim when an agent fails at its part or does not answer in time. */
export type OnFailure = 'terminate' | 'retry';

export interface BoardSettings {
  /** After this time a silent agent's bid counts as `ignore`. 0: the board waits for every agent. */
  readonly bid_deadline_ms: number;
  readonly timeouts_ms: Readonly<Record<Phase, number>>;
  /** Rounds of rework on one artefact before a person is asked. 0: no limit. */
  readonly max_review_iterations: number;
  readonly on_failure: OnFailure;
  /** Attempts of one agent at one phase of a claim, where failures are retried. */
  readonly max_attempts: number;
  /** A claim that is open for longer is listed as stuck. */
  readonly stuck_ms: number;
  /** Several agents may have the same role. `produced_by_agent` tells their artefacts apart. */
  readonly allow_duplicate_roles: boolean;
}

export const DEFAULT_SETTINGS: BoardSettings = {
  bid_deadline_ms: 0,
  timeouts_ms: { review: 5 * 60_000, parallel: 10 * 60_000, exclusive: 30 * 60_000 },
  max_review_iterations: 3,
  on_failure: 'terminate',
  max_attempts: 3,
  stuck_ms: 30 * 60_000,
  allow_duplicate_roles: false,
};

/** A bid that is known without asking the agent. */
export interface StandingBid {
  readonly bid: Bid;
  /**
   * Patterns of artefact types that it applies to; for all other types the agent bids `ignore`. Default: all
   * types.
   */
  readonly target_types?: readonly string[] | undefined;
}

/** An agent whose bid every new artefact waits for. */
export interface Bidder {
  readonly agent_id: string;
  readonly role: string;
  /** Placed for the agent in the commit that opens a claim. Without one, the agent is asked. */
  readonly standing_bid?: StandingBid | undefined;
  /** Takes precedence over the phase's limit. */
  readonly timeout_ms?: number | undefined;
  readonly on_failure?: OnFailure | undefined;
  readonly max_attempts?: number | undefined;
  /** What the agent is going to touch: files, folders, patterns, in their normal form. Its co-workers are told. */
  readonly files?: readonly string[] | undefined;
}
