import { globMatches } from '../../kernel/glob.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { UNTRUSTED_POLICY } from './defaults.ts';
import { SKIPPED_TIER_MAX, SKIPPING_TRUST, type VerificationPolicy } from './verification-policy.ts';

export interface ChangedFiles {
  readonly files: readonly string[];
  /** There are more than are known: they may be anything, so every policy applies. */
  readonly truncated?: boolean | undefined;
}

export interface PlannedRun {
  readonly policy: VerificationPolicy;
  /** Those that made the policy apply. */
  readonly files: readonly string[];
  readonly status: 'queued' | 'waiting_for_person' | 'skipped';
  readonly reason?: string | undefined;
}

/** What a change has to go through, the cheap tiers first. */
export function planFor(
  changed: ChangedFiles,
  policies: readonly VerificationPolicy[],
  trust_level: TrustLevel,
): PlannedRun[] {
  const applying = trust_level === 0 ? [...policies, UNTRUSTED_POLICY] : policies;
  return applying
    .flatMap((policy) => {
      const files = changed.files.filter((file) => appliesTo(policy, file));
      if (files.length === 0 && changed.truncated !== true) return [];
      return [{ policy, files, ...beginning(policy, trust_level) }];
    })
    .sort((a, b) => a.policy.tier - b.policy.tier);
}

function beginning(
  policy: VerificationPolicy,
  trust_level: TrustLevel,
): Pick<PlannedRun, 'status' | 'reason'> {
  if (trust_level >= SKIPPING_TRUST && policy.tier <= SKIPPED_TIER_MAX && policy.executor !== 'human')
    return { status: 'skipped', reason: `trust level ${trust_level} skips tiers 0 and 1` };
  const asks = policy.executor === 'human' || policy.requires_approval;
  return { status: asks ? 'waiting_for_person' : 'queued' };
}

/**
 * Names are compared in lower case too: `Secrets.ts` is no less of a secret. What takes a file out is compared as it stands,
 * so that no spelling slips past.
 */
function appliesTo({ patterns, exclude_patterns }: VerificationPolicy, file: string): boolean {
  const lower = file.toLowerCase();
  if (!patterns.some((pattern) => globMatches(pattern, file) || globMatches(pattern, lower))) return false;
  return !exclude_patterns.some((pattern) => globMatches(pattern, file));
}
