/**
 * The kinds of danger, the seed's six first. `unread_code`: a program that has not been inspected (`curl … |
 * sh`). `unresolved`: what would run is only known at run time. `control_plane`: an agent tries to reach
 * Coxswain's own rules or approvals.
 */
export const CATEGORIES = [
  'git_force',
  'branch_deletion',
  'mass_deletion',
  'credential_modification',
  'production_deployment',
  'database_migration',
  'history_rewrite',
  'infrastructure',
  'database_destruction',
  'package_publishing',
  'disk',
  'overwrite',
  'unread_code',
  'unresolved',
  'control_plane',
] as const;

export type Category = (typeof CATEGORIES)[number];

/** One dangerous thing that a command, a diff or a task would do. */
export interface Finding {
  readonly category: Category;
  /** What it is in one word, for profiles and people: `force_push`, `force_push_main`, `recursive_delete`. */
  readonly operation: string;
  /** The pattern of the registry that matched: `git-push-force`. */
  readonly pattern: string;
  /** The part that matched, shortened, with secrets masked. */
  readonly matched: string;
  /** What would be lost, in one sentence. */
  readonly reason: string;
  /** What to do instead, if there is an alternative. */
  readonly instead?: string | undefined;
  /**
   * The checked-out branch, where the meaning depends on it: the same command on another branch is another
   * thing.
   */
  readonly branch?: string | undefined;
  /** Its place in a change. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/**
 * What is done about a finding, from harmless to strict. `verify`: tier 3 or above must have passed;
 * `review`: a person decides, whatever the trust.
 */
export const ACTIONS = ['pass', 'warn', 'verify', 'ask', 'block', 'review'] as const;

export type Action = (typeof ACTIONS)[number];
