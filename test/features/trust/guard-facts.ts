import type { Category, Finding } from '../../../src/features/trust/finding.ts';
import type { Guard } from '../../../src/features/trust/guard-operation.ts';
import type { Profile, Standing } from '../../../src/features/trust/profile.ts';
import { rulebookKey } from '../../../src/features/trust/rulebook.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import type { Actor } from '../../../src/ledger/log.ts';
import type { TrustLevel } from '../../../src/runtime/access.ts';

export const WORKER: Actor = { agent_id: 'alice', agent_type: 'codex_cloud', session_id: 's1' };

export function finding(category: Category, operation: string, more: Partial<Finding> = {}): Finding {
  return {
    category,
    operation,
    pattern: `pattern-of-${operation}`,
    matched: operation,
    reason: `It would ${operation}.`,
    ...more,
  };
}

export const FORCE_PUSH = finding('git_force', 'force_push');
export const CREDENTIALS = finding('credential_modification', 'credential_modify', { file: '.env' });

export function guard(findings: readonly Finding[], more: Partial<Guard> = {}): Guard {
  return {
    caller: WORKER,
    kind: 'command',
    hash: 'hash-of-git-push',
    subject: 'git push --force',
    context: { command: 'git push --force', folder: '' },
    findings,
    ...more,
  };
}

const PLAIN: Profile = {
  name: 'plain',
  agent_types: [],
  trust_level: 2,
  network_policy: 'none',
  required_domains: [],
  allowed_operations: [],
  blocked_operations: [],
  resource_limits: {},
  guardrails: [],
  elevated_operations: [],
};

export function standing(trust_level: TrustLevel, own: Partial<Profile> = {}): Standing {
  return { profile: { ...PLAIN, trust_level, ...own }, source: 'default', trust_level };
}

export function ruled(type: string, data: JsonObject): EventBody {
  return { ...rulebookKey, type, data };
}

/** The profile that every agent of the specs has, changed. */
export function profileSet(own: Partial<Profile>): EventBody {
  const profile = { ...PLAIN, name: 'codex-cloud-worker', agent_types: ['codex_cloud'], ...own };
  return ruled('profile_set', { profile: profile as unknown as JsonObject });
}
