import type { TrustLevel } from '../../runtime/access.ts';
import type { Action, Category, Finding } from './finding.ts';
import type { Profile, Standing } from './profile.ts';

/** The seed's default for each category; ours for categories it does not have. */
export const CATEGORY_DEFAULTS: Readonly<Record<Category, Action>> = {
  git_force: 'block',
  branch_deletion: 'block',
  mass_deletion: 'block',
  credential_modification: 'review',
  production_deployment: 'block',
  database_migration: 'verify',
  history_rewrite: 'block',
  infrastructure: 'block',
  database_destruction: 'block',
  package_publishing: 'block',
  disk: 'block',
  overwrite: 'block',
  unread_code: 'block',
  unresolved: 'block',
  control_plane: 'block',
};

/** Operations that are less severe than their category: they lose little, or it can be recovered. */
export const OPERATION_DEFAULTS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['delete_branch', 'warn'],
  ['force_push_with_lease', 'warn'],
  ['skip_hooks', 'warn'],
]);

/** A project's own patterns of this kind are reported and not stopped. */
export const PROJECT_WARNING = 'project-warning:';

/** A forced push without a named target, where the checked-out branch is unknown. */
export const UNNAMED_PUSH = 'git-push-force-unnamed';

const GIT: ReadonlySet<Category> = new Set<Category>(['git_force', 'branch_deletion', 'history_rewrite']);

/**
 * From this level on, a profile's elevated operations go ahead, and unreadable commands are asked about
 * instead of refused.
 */
const ELEVATED_TRUST: TrustLevel = 3;

/**
 * What a word in a profile means besides its own name and category. A push is a finding only when it is
 * forced.
 */
const FORCED = ['force_push', 'force_push_main', 'force_push_with_lease'];
/** Main may be among the unnamed branches. */
const ON_MAIN = [
  'force_push_main',
  'delete_main_branch',
  'mirror_push',
  'prune_remote_branches',
  'delete_many_branches',
];
const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['git_push', FORCED],
  ['git_push_force', FORCED],
  ['git_push_main', ON_MAIN],
  // A profile that forbids rewriting main also forbids removing it.
  ['git_push_force_main', ON_MAIN],
]);

function names(words: readonly string[], { operation, category }: Finding): string | undefined {
  return words.find(
    (word) => word === operation || word === category || MEANINGS.get(word)?.includes(operation) === true,
  );
}

/** What it may turn out to be: for an unnamed push the rules about main apply as well. */
function possible(finding: Finding): Finding[] {
  return finding.pattern === UNNAMED_PUSH
    ? [{ ...finding, operation: 'force_push_main' }, finding]
    : [finding];
}

/** What to do about a finding, the keyword of the reason, and whether the profile's trust let it through. */
export interface TrustJudgement {
  readonly action: Action;
  readonly why: string;
  readonly elevated?: true;
}

function isCloud({ connection }: Profile): boolean {
  return connection === 'http_api' || connection === 'agentcore_gateway';
}

/** Whatever the trust: a person looks at credentials, and a person changes Coxswain's own rules. */
function absolute(finding: Finding): TrustJudgement | undefined {
  if (finding.category === 'credential_modification')
    return { action: 'review', why: 'credentials are looked at by a person, whatever the trust' };
  if (finding.category === 'control_plane' && !OPERATION_DEFAULTS.has(finding.operation))
    return { action: 'block', why: 'no agent changes the rules that hold for it' };
  return undefined;
}

function byDefault(finding: Finding, { profile, trust_level }: Standing): TrustJudgement {
  if (finding.pattern.startsWith(PROJECT_WARNING)) return { action: 'warn', why: 'a warning of the project' };
  if (finding.category === 'unresolved')
    return trust_level >= ELEVATED_TRUST
      ? { action: 'ask', why: 'what it does is known only when it runs' }
      : { action: 'block', why: `what it does is known only when it runs, and trust is ${trust_level}` };
  const action = OPERATION_DEFAULTS.get(finding.operation) ?? CATEGORY_DEFAULTS[finding.category];
  if (action === 'warn' && isCloud(profile))
    return { action: 'block', why: 'for cloud agents what destroys is blocked' };
  return { action, why: `the default of ${finding.category}` };
}

function byGuardrails(finding: Finding, { profile }: Standing): TrustJudgement | undefined {
  if (!GIT.has(finding.category)) return undefined;
  if (profile.guardrails.includes('no_destructive_git'))
    return { action: 'block', why: `no_destructive_git of profile ${profile.name}` };
  if (profile.guardrails.includes('warn_destructive_git'))
    return { action: 'warn', why: `warn_destructive_git of profile ${profile.name}` };
  return undefined;
}

/**
 * The category's default, then the profile's guardrails, then what the profile blocks by name, then what it
 * elevates from trust 3 on. Blocked overrides elevated: a profile that says both says no.
 */
export function actionFor(finding: Finding, standing: Standing): TrustJudgement {
  const fixed = absolute(finding);
  if (fixed !== undefined) return fixed;
  const judged = byGuardrails(finding, standing) ?? byDefault(finding, standing);
  const { profile, trust_level } = standing;
  const possibly = possible(finding);
  const [blocked] = possibly.flatMap((each) => names(profile.blocked_operations, each) ?? []);
  if (blocked !== undefined)
    return { action: 'block', why: `${blocked} is blocked by profile ${profile.name}` };
  const [elevated, ...others] = possibly.map((each) => names(profile.elevated_operations, each));
  if (elevated === undefined || others.includes(undefined) || trust_level < ELEVATED_TRUST) return judged;
  return { action: 'pass', why: `${elevated} is elevated in profile ${profile.name}`, elevated: true };
}
