/** The order in which a claim goes through them. */
export const PHASES = ['review', 'parallel', 'exclusive'] as const;
export type Phase = (typeof PHASES)[number];

/** `claim` is a bid for the parallel phase. */
export const BIDS = ['review', 'claim', 'exclusive', 'ignore'] as const;
export type Bid = (typeof BIDS)[number];

/** What becomes of a claim when an agent fails at its part or says nothing in time. */
export type OnFailure = 'terminate' | 'retry';

export interface BoardSettings {
  /** After so long a silent agent's bid counts as `ignore`. 0: everybody is waited for. */
  readonly bid_deadline_ms: number;
  readonly timeouts_ms: Readonly<Record<Phase, number>>;
  /** Rounds of rework on one artefact before a person is asked. 0: as many as it takes. */
  readonly max_review_iterations: number;
  readonly on_failure: OnFailure;
  /** Of one agent at one phase of a claim, where failures are retried. */
  readonly max_attempts: number;
  /** A claim that is open for longer is listed as pending for long. */
  readonly stuck_ms: number;
  /** Several agents may have the same role: what they make is told apart by `produced_by_agent`. */
  readonly allow_duplicate_roles: boolean;
}

export const DEFAULT_SETTINGS: BoardSettings = {
  bid_deadline_ms: 60_000,
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
  /** Patterns of artefact types it applies to; on others the agent bids `ignore`. Default: all. */
  readonly target_types?: readonly string[] | undefined;
}

/** Somebody whose bid every new artefact waits for. */
export interface Bidder {
  readonly agent_id: string;
  readonly role: string;
  /** Placed for it in the commit that opens a claim. Without one the agent is asked. */
  readonly standing_bid?: StandingBid | undefined;
  /** Beats the phase's. */
  readonly timeout_ms?: number | undefined;
  readonly on_failure?: OnFailure | undefined;
  readonly max_attempts?: number | undefined;
  /** What it is going to touch: files, folders, patterns, in their normal form. Its co-workers are told. */
  readonly files?: readonly string[] | undefined;
}
