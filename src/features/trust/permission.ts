import type { Permission, TrustLevel } from '../../runtime/access.ts';

/** The seed has two spellings for some of them. */
const SAME: ReadonlyMap<string, Permission> = new Map([
  ['read_file', 'read'],
  ['write_file', 'write'],
  ['edit', 'write'],
  ['shell', 'execute'],
  ['execute_command', 'execute'],
  ['push', 'git_push'],
]);

/** Nearly always the same few words: names of operations, and words in profiles. */
const SPELLED = new Map<string, string>();
const SPELLED_MAX = 500;

/**
 * The canonical spelling of a word in a profile: a permission, an operation's name, or a guardrail's name for
 * an operation.
 */
export function oneWord(word: string): string {
  const known = SPELLED.get(word);
  if (known !== undefined) return known;
  const folded = word.trim().toLowerCase().replaceAll('-', '_');
  const spelled = SAME.get(folded) ?? folded;
  if (SPELLED.size < SPELLED_MAX) SPELLED.set(word, spelled);
  return spelled;
}

/** What is forbidden with it: an agent that may not push may not force-push either. */
const WIDER: Partial<Record<Permission, readonly Permission[]>> = {
  git_push_branch: ['git_push'],
  git_push_main: ['git_push'],
  git_push_force: ['git_push'],
  git_push_force_main: ['git_push_force', 'git_push_main', 'git_push'],
};

export function widerThan(permission: Permission): readonly Permission[] {
  return WIDER[permission] ?? [];
}

/**
 * What allows it. The permission to push to main does not include force-pushing to it; `git_push` covers all
 * of them.
 */
export function allowedBy(permission: Permission): readonly Permission[] {
  return WIDER[permission] === undefined ? [permission] : [permission, 'git_push'];
}

/** The lowest level of the seed's table that has it. Dangers beyond that are left to the guardrails. */
const LEAST_TRUST: Record<Permission, TrustLevel> = {
  read: 0,
  analyze: 0,
  comment: 0,
  create_review: 0,
  write: 1,
  execute: 1,
  network: 0,
  git_push: 1,
  git_push_branch: 1,
  git_push_main: 2,
  git_push_force: 2,
  git_push_force_main: 3,
  credential_modify: 3,
  spawn_agent: 2,
  manage_swarm: 3,
};

export function leastTrust(permission: Permission): TrustLevel {
  return LEAST_TRUST[permission];
}

/**
 * No profile lists it: an agent's network policy says which hosts it reaches. At level 0 those are its
 * coordinator and what the profile requires, and every attempt to reach another host must be visible
 * (domain/network/judge.ts).
 */
export const UNLISTED: ReadonlySet<Permission> = new Set(['network']);
