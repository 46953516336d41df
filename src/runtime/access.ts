import type { Actor } from '../ledger/log.ts';

/**
 * What an operation or a tool call does to the world, in the seed's words. Coordination (locks, queue, sessions, hand-offs, mail,
 * ports) needs none of them: it is what keeps agents apart, and goes by name if a profile blocks it.
 */
export const PERMISSIONS = [
  'read',
  'analyze',
  'comment',
  'create_review',
  'write',
  'execute',
  'network',
  'git_push',
  'git_push_branch',
  'git_push_main',
  'git_push_force',
  'git_push_force_main',
  'credential_modify',
  'spawn_agent',
  'manage_swarm',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export type TrustLevel = 0 | 1 | 2 | 3 | 4;

/** The transport of a call. A profile may be limited to some of them. */
export type DoorName = 'mcp' | 'mcp_http' | 'http' | 'cli' | 'hook' | 'library';

/** What one call would use up, where the agent's profile has a limit on it. */
export interface Uses {
  /** Files it changes: each counts once in a session. */
  readonly modifies?: readonly string[] | undefined;
  /** Files it means to change: not counted yet, and refused once there is no room for them. */
  readonly means_to_modify?: readonly string[] | undefined;
  /** The call itself locks what it changes, so the caller need not hold a lock before. */
  readonly locks_them?: true | undefined;
  readonly file_reads?: number | undefined;
  readonly spawned_agents?: number | undefined;
}

/** What a call asks of the rules. Plain JSON: it travels to the process that commits for this one. */
export interface Demand {
  readonly actor: Actor;
  /** An operation's name and group, or what a hook calls a tool's doing. */
  readonly operation: string;
  readonly group?: string | undefined;
  readonly permission?: Permission | undefined;
  /** The least trust for it, whatever the profile lists. */
  readonly trust?: TrustLevel | undefined;
  readonly door?: DoorName | undefined;
  /** Of agents without a profile, where it is not what ships. */
  readonly default_trust?: TrustLevel | undefined;
  readonly uses?: Uses | undefined;
  /** Gives back, reports or ends: possible also when the time is up. */
  readonly winds_down?: true | undefined;
  /** Asked in no session: nothing would ever end what was counted as one's, so nothing is. */
  readonly sessionless?: true | undefined;
}
