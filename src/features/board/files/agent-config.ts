import type { Bidder, BoardSettings, StandingBid } from '../board-settings.ts';

/** An agent of `cox.yml`, `sett.yml` or `holt.yml`, with everything that has a default filled in. */
export interface AgentConfig extends Omit<Bidder, 'standing_bid'> {
  /** `bidding_strategy`: also what counts when the bid script fails. */
  readonly standing_bid?: StandingBid | undefined;
  /** Gets the artefact on stdin and prints a bid. With one, the agent is asked. */
  readonly bid_script?: readonly string[] | undefined;
  /** Without one nobody starts it: it takes part by itself, over MCP or HTTP. */
  readonly program?: AgentProgram | undefined;
  /** How many grants of it are worked on at once. */
  readonly max_concurrent: number;
  /** Each execution is a worker of its own, named `<role>-<claim>-<n>`. */
  readonly workers: boolean;
}

export interface AgentProgram {
  /** Empty: whatever the image runs by itself. */
  readonly command: readonly string[];
  /** A container's image; the command then runs in it. */
  readonly image?: string | undefined;
  readonly runtime: 'process' | 'container';
  /** `none`: in the folder of the configuration. Else in a git worktree of its own, which `ro` may not change. */
  readonly workspace: 'none' | 'ro' | 'rw';
  readonly environment: Readonly<Record<string, string>>;
  readonly cpus?: number | undefined;
  readonly memory_bytes?: number | undefined;
  /** For the agent's own use: handed on in its environment. */
  readonly prompts: Readonly<Record<string, string>>;
}

export interface BoardConfig {
  /** Relative to the repository where it is inside. */
  readonly file: string;
  /** The folder that commands run in. */
  readonly folder: string;
  readonly settings: BoardSettings;
  readonly agents: readonly AgentConfig[];
}
