/** A feature as its file tells it (`features/**.yml`), in as much as routing and promotion go by it. */
export interface Feature {
  readonly feature: string;
  readonly title?: string | undefined;
  readonly vector_type: 'feature' | 'discovery' | 'spike' | 'poc' | 'hotfix';
  readonly status: 'pending' | 'in_progress' | 'converged' | 'blocked' | 'time_box_expired';
  /** 1 first, as everywhere. */
  readonly priority: number;
  /** When its time box ends, if it has one. */
  readonly time_box_ends_ms?: number | undefined;
  /** By normal edge name, in the order in which they are to be done; `converged` ones too. */
  readonly trajectory: readonly {
    readonly edge: string;
    readonly status: 'pending' | 'iterating' | 'converged';
    /** The assets it leads from and to, where that can be told. */
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  }[];
  /** Undefined: nobody knows, so it is orthogonal to nothing. */
  readonly modules?: readonly string[] | undefined;
  /** Features that have to be done first, in whole or up to an asset. */
  readonly dependencies: readonly {
    readonly feature: string;
    readonly asset?: string | undefined;
    /** What the file says of one that has no file here. */
    readonly resolved?: boolean | undefined;
  }[];
  /** When its file or its claims were last touched. */
  readonly touched_ms: number;
  /** The file, relative to the workspace folder. */
  readonly file?: string | undefined;
}

/** Which modules each module builds on, directly. */
export type ModuleGraph = Readonly<Record<string, readonly string[]>>;

/** A claim in as much as routing goes by it. */
export interface TakenEdge {
  readonly feature: string;
  readonly edge: string;
  readonly agent_id?: string | undefined;
  readonly converged?: boolean | undefined;
  /** It goes on when a person has decided, and why. */
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
  /** Why this one: the tier it won by, and what it runs beside. */
  readonly reason: string;
}

export interface PairAdvice {
  readonly feature_a: string;
  readonly feature_b: string;
  readonly inner_product: number;
  readonly is_orthogonal: boolean;
  readonly advice: 'parallel_safe' | 'sequential_recommended';
  /** The first of them, where there are many. */
  readonly shared_modules: readonly string[];
  /** Of these the modules are not known: the inner product says nothing, and they count as not orthogonal. */
  readonly unknown_modules?: readonly string[] | undefined;
  /** Which of the two first, where they are not to run side by side. */
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

export interface Routing {
  readonly assignments: readonly Suggestion[];
  /** Only pairs that were assigned or are claimed now, and are not orthogonal. */
  readonly warnings: readonly PairAdvice[];
  /** Features that can all run beside each other, largest group first. */
  readonly groups: readonly (readonly string[])[];
  /** Who gets nothing, and why. */
  readonly unassigned: readonly Unassigned[];
  /** Features that can't go on yet. */
  readonly held_up: readonly HeldUp[];
  /** What goes on when a person has decided. */
  readonly waiting: readonly HeldUp[];
  /** Nobody can go on, and nothing is under way that would change that: only a person can. */
  readonly waiting_for_person: boolean;
}
