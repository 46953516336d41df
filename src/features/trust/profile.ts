import type { TrustLevel } from '../../runtime/access.ts';
export const GUARDRAILS = [
  'warn_destructive_git',
  'no_destructive_git',
  'read_only_filesystem',
  'lock_before_write',
  'test_required',
  'audit_all_operations',
] as const;

export type Guardrail = (typeof GUARDRAILS)[number];

/** Undefined: no limit. */
export interface ResourceLimits {
  readonly max_file_modifications?: number | undefined;
  readonly max_file_reads?: number | undefined;
  readonly max_execution_seconds?: number | undefined;
  readonly max_api_calls_per_hour?: number | undefined;
  readonly max_spawned_agents?: number | undefined;
}

/** What an agent may do. The seed's fields; times are in seconds, `unlimited` is undefined. */
export interface Profile {
  readonly name: string;
  /** The agent types that have it without an assignment. */
  readonly agent_types: readonly string[];
  readonly trust_level: TrustLevel;
  readonly connection?: 'mcp' | 'http_api' | 'agentcore_gateway' | undefined;
  readonly network_policy: string;
  readonly network_default?: 'allow' | 'deny' | undefined;
  readonly required_domains: readonly string[];
  readonly allowed_operations: readonly string[];
  /** Overrides what is allowed. Permissions, names of operations, or the guardrails' names for operations. */
  readonly blocked_operations: readonly string[];
  readonly resource_limits: ResourceLimits;
  readonly guardrails: readonly Guardrail[];
  /** Guarded operations (or categories) that go ahead at trust 3 and above, flagged and notified. */
  readonly elevated_operations: readonly string[];
}

/** The profile of one agent at one moment, and why it is this one. */
export interface Standing {
  readonly profile: Profile;
  readonly source: 'agent' | 'agent_type' | 'default';
  /** The profile's level, or less after too many violations. */
  readonly trust_level: TrustLevel;
}

/** Level 1 writes only under a lock (PROF-7), and so does an agent with the guardrail for it. */
export function writesUnderLock({ profile, trust_level }: Standing): boolean {
  return trust_level === 1 || profile.guardrails.includes('lock_before_write');
}
