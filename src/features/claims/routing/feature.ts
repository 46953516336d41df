/** A feature as its file describes it (`features/**.yml`), as far as routing and promotion need it. */
export interface Feature {
  readonly feature: string;
  readonly title?: string | undefined;
  readonly vector_type: 'feature' | 'discovery' | 'spike' | 'poc' | 'hotfix';
  /** `set_aside`: archived or dismissed. */
  readonly status: 'pending' | 'in_progress' | 'converged' | 'blocked' | 'time_box_expired' | 'set_aside';
  /** 1 is the most urgent, as everywhere. */
  readonly priority: number;
  /** When its time box ends, if it has one. */
  readonly time_box_ends_ms?: number | undefined;
  /** Normalised edge names, in the order in which they are to be done; includes `converged` ones. */
  readonly trajectory: readonly {
    readonly edge: string;
    readonly status: 'pending' | 'iterating' | 'converged';
    /** The assets it leads from and to, where known. */
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  }[];
  /** Undefined: unknown, so it is orthogonal to no feature. */
  readonly modules?: readonly string[] | undefined;
  /** Features that have to be done first, entirely or up to an asset. */
  readonly dependencies: readonly {
    readonly feature: string;
    readonly asset?: string | undefined;
    /** What this file says about a feature that has no file here. */
    readonly resolved?: boolean | undefined;
  }[];
  /** When its file or its claims were last touched. */
  readonly touched_ms: number;
  /** The file, relative to the workspace folder. */
  readonly file?: string | undefined;
}

/** Which modules each module builds on, directly. */
export type ModuleGraph = Readonly<Record<string, readonly string[]>>;

/** The parts of a claim that routing needs. */
export interface TakenEdge {
  readonly feature: string;
  readonly edge: string;
  readonly agent_id?: string | undefined;
  readonly converged?: boolean | undefined;
  /** Why it waits for a person's decision. */
  readonly waits?: string | undefined;
  readonly last_active_ms?: number | undefined;
}

export interface Crew {
  readonly agent_id: string;
  readonly agent_role: string;
}

export interface Suggestion {
  readonly agent_id: string;
  readonly agent_role: string;
  readonly feature: string;
  readonly edge: string;
  /** Why this one: the tier that decided, and what it runs beside. */
  readonly reason: string;
}

export interface PairAdvice {
  readonly feature_a: string;
  readonly feature_b: string;
  readonly inner_product: number;
  readonly is_orthogonal: boolean;
  readonly advice: 'parallel_safe' | 'sequential_recommended';
  /** Only the first few, where there are many. */
  readonly shared_modules: readonly string[];
  /**
   * The features whose modules are unknown: the inner product says nothing, and they count as not orthogonal.
   */
  readonly unknown_modules?: readonly string[] | undefined;
  /** Which of the two goes first, where they should not run side by side. */
  readonly order?: readonly [string, string] | undefined;
}

export interface Unassigned extends Crew {
  readonly reason: string;
}

export interface HeldUp {
  readonly feature: string;
  readonly edge?: string | undefined;
  readonly reason: string;
}

export interface FeatureRouting {
  readonly assignments: readonly Suggestion[];
  /** Only pairs that were assigned or are claimed now, and are not orthogonal. */
  readonly warnings: readonly PairAdvice[];
  /** Features that can all run side by side, largest group first. */
  readonly groups: readonly (readonly string[])[];
  /** The agents that get nothing, and why. */
  readonly unassigned: readonly Unassigned[];
  /** Features that can't continue yet. */
  readonly held_up: readonly HeldUp[];
  /** Features that continue when a person has decided. */
  readonly waiting: readonly HeldUp[];
  /** No agent can continue, and no work in progress would change that: only a person can. */
  readonly waiting_for_person: boolean;
}
