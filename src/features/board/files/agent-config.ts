import type { Bidder, BoardSettings, StandingBid } from '../board-settings.ts';

/** An agent of `cox.yml`, `sett.yml` or `holt.yml`, with all defaults filled in. */
export interface AgentConfig extends Omit<Bidder, 'standing_bid'> {
  /** `bidding_strategy`. It also applies when the bid script fails. */
  readonly standing_bid?: StandingBid | undefined;
  /** Gets the artefact on stdin and prints a bid. If it is set, the agent is asked for every artefact. */
  readonly bid_script?: readonly string[] | undefined;
  /** Without one, the orchestrator does not start the agent: the agent takes part by itself, over MCP or HTTP. */
  readonly program?: AgentProgram | undefined;
  /** How many of its grants are worked on at once. */
  readonly max_concurrent: number;
  /** Each execution is a separate worker, named `<role>-<claim>-<n>`. */
  readonly workers: boolean;
}

export interface AgentProgram {
  /** Empty: the image's own command. */
  readonly command: readonly string[];
  /** A container image; the command then runs in it. */
  readonly image?: string | undefined;
  readonly runtime: 'process' | 'container';
  /** `none`: in the folder of the configuration. Otherwise in its own git worktree, which is read-only for `ro`. */
  readonly workspace: 'none' | 'ro' | 'rw';
  readonly environment: Readonly<Record<string, string>>;
  readonly cpus?: number | undefined;
  readonly memory_bytes?: number | undefined;
  /** For the agent's own use: passed on in its environment. */
  readonly prompts: Readonly<Record<string, string>>;
}

export interface BoardConfig {
  /** Relative to the repository, if the file is inside it. */
  readonly file: string;
  /** The folder that commands run in. */
  readonly folder: string;
  readonly settings: BoardSettings;
  readonly agents: readonly AgentConfig[];
}
