import type { TrustLevel } from '../../runtime/access.ts';

/** By number: what a change has to go through, from cheap to a person. */
export const TIERS = ['static', 'unit', 'integration', 'system', 'manual'] as const;
export const EXECUTORS = ['inline', 'github', 'ntm', 'e2b', 'human'] as const;

export type Tier = 0 | 1 | 2 | 3 | 4;
export type ExecutorName = (typeof EXECUTORS)[number];

/** Which changes are verified how. */
export interface VerificationPolicy {
  readonly name: string;
  readonly tier: Tier;
  readonly executor: ExecutorName;
  /** For a runner that is not set up for the first one. */
  readonly fallback?: ExecutorName | undefined;
  readonly patterns: readonly string[];
  readonly exclude_patterns: readonly string[];
  /** Variables of the runner's environment that the command needs, by name; it sees no others of the runner's. */
  readonly required_environment: readonly string[];
  readonly timeout_seconds: number;
  /** A person says yes before anything is run. */
  readonly requires_approval: boolean;
  /** For a shell, in a clean work tree of the commit. Without one: what the project itself offers for this tier. */
  readonly command?: string | undefined;
  /** GitHub: the file in .github/workflows, and the branch whose version of it counts. */
  readonly workflow?: string | undefined;
  readonly ref?: string | undefined;
  /** Ignored folders of the repository that are linked into the clean work tree: `node_modules`. */
  readonly link?: readonly string[] | undefined;
}

/** From this trust on the two cheap tiers are left out; at none, every change goes to a person. */
export const SKIPPING_TRUST: TrustLevel = 3;
export const SKIPPED_TIER_MAX: Tier = 1;
