import type { TrustLevel } from '../../runtime/access.ts';

/** A named list of what agents may reach. Entries: see `rule.ts`, or `category:documentation` for all of one. */
export interface NetworkPolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** What counts for everything else; without it the profile's `network_default`. */
  readonly default?: 'allow' | 'deny' | undefined;
}

export interface NetworkCategory {
  readonly domains: readonly string[];
  /** From which trust on an agent has it, where no policy says otherwise. */
  readonly trust_min: TrustLevel;
}

/**
 * The seed's categories. Behind its own domains stand those without which the same services do not work: npm fetches from
 * registry.npmjs.org, not from npmjs.com. Coordination is not among them: its host is configured and always passes.
 */
export const NETWORK_CATEGORIES = {
  package_managers: {
    domains: [
      ...['pypi.org', 'npmjs.com', 'rubygems.org'],
      ...['files.pythonhosted.org', 'registry.npmjs.org', 'index.rubygems.org'],
    ],
    trust_min: 1,
  },
  documentation: { domains: ['docs.python.org', 'developer.mozilla.org'], trust_min: 1 },
  cloud_providers: { domains: ['*.amazonaws.com', '*.azure.com', '*.googleapis.com'], trust_min: 2 },
  // "All agents", and yet trust 0 has no network at all: see docs/network.md.
  source_control: { domains: ['github.com', 'gitlab.com'], trust_min: 1 },
} as const satisfies Record<string, NetworkCategory>;

export type CategoryName = keyof typeof NETWORK_CATEGORIES;

export const CATEGORY_NAMES = Object.keys(NETWORK_CATEGORIES) as CategoryName[];

const CATEGORY_PREFIX = 'category:';

export function categoryEntry(name: CategoryName): string {
  return `${CATEGORY_PREFIX}${name}`;
}

/** What an entry stands for: a category's domains, or itself. Undefined: a category that does not exist. */
export function expandEntry(entry: string): readonly string[] | undefined {
  if (!entry.startsWith(CATEGORY_PREFIX)) return [entry];
  const name = entry.slice(CATEGORY_PREFIX.length);
  return Object.hasOwn(NETWORK_CATEGORIES, name)
    ? NETWORK_CATEGORIES[name as CategoryName].domains
    : undefined;
}

/** Until a policy of this name is set, it means the categories that the agent's trust gives it. */
export const CONFIGURABLE = 'configurable';

export const SHIPPED_POLICIES: Readonly<Record<string, NetworkPolicy>> = {
  full_access: { allow: ['*:*', '0.0.0.0/0:*', '[::/0]:*'], deny: [] },
  documentation_only: { allow: [categoryEntry('documentation')], deny: [], default: 'deny' },
  // The profile that has it may push its branches, so it reaches source control too.
  package_managers_and_docs: {
    allow: (['package_managers', 'documentation', 'source_control'] as const).map(categoryEntry),
    deny: [],
    default: 'deny',
  },
  coordination_only: { allow: [], deny: [], default: 'deny' },
};

function categoriesOf(trust_level: TrustLevel): NetworkPolicy {
  const names = CATEGORY_NAMES.filter((name) => trust_level >= NETWORK_CATEGORIES[name].trust_min);
  return { allow: names.map(categoryEntry), deny: [] };
}

export type NetworkPolicies = Readonly<Record<string, NetworkPolicy>>;

/** What was set under a name counts before what ships under it. Undefined: nothing has that name. */
export function policyNamed(
  name: string,
  set: NetworkPolicies,
  trust_level: TrustLevel,
): NetworkPolicy | undefined {
  if (Object.hasOwn(set, name)) return set[name];
  if (name === CONFIGURABLE) return categoriesOf(trust_level);
  return Object.hasOwn(SHIPPED_POLICIES, name) ? SHIPPED_POLICIES[name] : undefined;
}
