import type { TrustLevel } from '../../runtime/access.ts';
import type { Profile } from './profile.ts';

const HOUR_SECONDS = 3600;

/** The seed's five profiles, field by field (test/features/trust/seed-profiles.md is its text). */
const SEED: readonly Profile[] = [
  {
    name: 'claude-code-cli',
    agent_types: ['claude_code_cli'],
    trust_level: 3,
    connection: 'mcp',
    network_policy: 'full_access',
    required_domains: [],
    allowed_operations: ['read', 'write', 'execute', 'git_push'],
    blocked_operations: ['git_push_force_main', 'credential_modify'],
    resource_limits: {},
    guardrails: ['warn_destructive_git'],
    elevated_operations: [],
  },
  {
    name: 'claude-code-web-reviewer',
    agent_types: ['claude_code_web'],
    trust_level: 2,
    connection: 'http_api',
    network_policy: 'documentation_only',
    required_domains: [],
    allowed_operations: ['read', 'analyze', 'comment', 'create_review'],
    blocked_operations: ['write', 'execute', 'git_push'],
    resource_limits: { max_file_reads: 500, max_execution_seconds: HOUR_SECONDS / 2 },
    guardrails: ['read_only_filesystem'],
    elevated_operations: [],
  },
  {
    name: 'claude-code-web-implementer',
    agent_types: ['claude_code_web'],
    trust_level: 3,
    connection: 'http_api',
    network_policy: 'package_managers_and_docs',
    required_domains: ['coord.yourdomain.com'],
    allowed_operations: ['read', 'write', 'execute', 'git_push_branch'],
    blocked_operations: ['git_push_force', 'git_push_main', 'credential_modify'],
    resource_limits: { max_file_modifications: 100, max_execution_seconds: 2 * HOUR_SECONDS },
    guardrails: ['no_destructive_git', 'lock_before_write', 'test_required'],
    elevated_operations: [],
  },
  {
    name: 'codex-cloud-worker',
    agent_types: ['codex_cloud'],
    trust_level: 2,
    connection: 'http_api',
    network_policy: 'coordination_only',
    required_domains: ['coord.yourdomain.com'],
    allowed_operations: ['read', 'write', 'execute'],
    blocked_operations: ['git_push'],
    resource_limits: { max_file_modifications: 50, max_execution_seconds: HOUR_SECONDS },
    guardrails: ['no_destructive_git', 'lock_before_write'],
    elevated_operations: [],
  },
  {
    name: 'strands-orchestrator',
    agent_types: ['strands_agent'],
    trust_level: 4,
    connection: 'agentcore_gateway',
    network_policy: 'configurable',
    required_domains: [],
    allowed_operations: ['read', 'write', 'execute', 'spawn_agent', 'manage_swarm'],
    blocked_operations: ['credential_modify'],
    resource_limits: { max_spawned_agents: 10, max_execution_seconds: 8 * HOUR_SECONDS },
    guardrails: ['audit_all_operations'],
    elevated_operations: [],
  },
];

/**
 * A client on a person's own machine, besides claude-code-cli. The seed ties none of them to a connection.
 */
function localClient(name: string, agent_types: readonly string[]): Profile {
  return {
    name,
    agent_types,
    trust_level: 3,
    network_policy: 'full_access',
    required_domains: [],
    allowed_operations: ['read', 'write', 'execute', 'git_push'],
    blocked_operations: ['git_push_force_main', 'credential_modify'],
    resource_limits: {},
    guardrails: ['warn_destructive_git'],
    elevated_operations: [],
  };
}

export const DEFAULT_PROFILE = 'default';
const CLOUD_DEFAULT = 'cloud-default';
/** `PROFILES_DEFAULT_TRUST` of the seed. */
export const DEFAULT_TRUST: TrustLevel = 2;

const OWN: readonly Profile[] = [
  localClient('codex-cli', ['codex_cli']),
  localClient('gemini-cli', ['gemini_cli']),
  localClient('aider', ['aider']),
  {
    name: 'reviewer',
    agent_types: ['reviewer'],
    trust_level: 2,
    network_policy: 'documentation_only',
    required_domains: [],
    allowed_operations: ['read', 'analyze', 'comment', 'create_review'],
    blocked_operations: ['write', 'execute', 'git_push'],
    resource_limits: {},
    guardrails: ['read_only_filesystem'],
    elevated_operations: [],
  },
  {
    name: 'untrusted',
    agent_types: [],
    trust_level: 0,
    network_policy: 'coordination_only',
    network_default: 'deny',
    required_domains: [],
    allowed_operations: ['read', 'analyze', 'comment'],
    blocked_operations: [],
    resource_limits: { max_api_calls_per_hour: 1000 },
    guardrails: ['read_only_filesystem', 'no_destructive_git'],
    elevated_operations: [],
  },
  {
    name: CLOUD_DEFAULT,
    agent_types: [],
    trust_level: 1,
    connection: 'http_api',
    network_policy: 'coordination_only',
    network_default: 'deny',
    required_domains: [],
    allowed_operations: ['read', 'write', 'execute', 'git_push_branch'],
    blocked_operations: ['git_push_force', 'git_push_main', 'credential_modify'],
    resource_limits: {
      max_file_modifications: 50,
      max_execution_seconds: HOUR_SECONDS,
      max_api_calls_per_hour: 1000,
    },
    guardrails: ['no_destructive_git', 'lock_before_write'],
    elevated_operations: [],
  },
  {
    name: DEFAULT_PROFILE,
    agent_types: [],
    trust_level: DEFAULT_TRUST,
    network_policy: 'configurable',
    required_domains: [],
    allowed_operations: ['read', 'write', 'execute', 'git_push', 'analyze', 'comment', 'create_review'],
    blocked_operations: ['git_push_force_main', 'credential_modify'],
    resource_limits: {},
    guardrails: [],
    elevated_operations: [],
  },
];

export const BUILTIN: readonly Profile[] = [...SEED, ...OWN];

/** What clients call themselves, and what the seed calls them. */
const SAME_TYPE: ReadonlyMap<string, string> = new Map([
  ['claude_code', 'claude_code_cli'],
  ['codex', 'codex_cli'],
  ['codex_mcp_client', 'codex_cli'],
  ['gemini', 'gemini_cli'],
  ['gemini_cli_mcp_client', 'gemini_cli'],
]);

/** Only lower-case letters, digits and `_`, as nearly always. */
function isOneWord(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isLetter = code >= 0x61 && code <= 0x7a;
    const isDigit = code >= 0x30 && code <= 0x39;
    if (!isLetter && !isDigit && code !== 0x5f) return false;
  }
  return true;
}

/**
 * The canonical spelling of an agent type: an agent that calls itself `Codex-Cloud` is of the type
 * `codex_cloud`.
 */
export function oneType(agent_type: string): string {
  const lower = agent_type.trim().toLowerCase();
  const folded = isOneWord(lower) ? lower : lower.replaceAll(/[-\s]+/g, '_');
  return SAME_TYPE.get(folded) ?? folded;
}

/** A name that clients use, not the seed's own: `claude_code` says nothing about how the agent is connected. */
export function isOtherName(agent_type: string): boolean {
  return SAME_TYPE.has(
    agent_type
      .trim()
      .toLowerCase()
      .replaceAll(/[-\s]+/g, '_'),
  );
}

const IN_THE_CLOUD: ReadonlySet<string> = new Set(['cloud', 'web', 'remote']);

/** Which of the shipped profiles a type without its own profile falls back to. */
export function fallbackFor(type: string): string {
  return type.split('_').some((word) => IN_THE_CLOUD.has(word)) ? CLOUD_DEFAULT : DEFAULT_PROFILE;
}
