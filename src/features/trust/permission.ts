import type { Permission, TrustLevel } from '../../runtime/access.ts';

/** The seed writes some of them in two ways. */
const SAME: ReadonlyMap<string, Permission> = new Map([
  ['read_file', 'read'],
  ['write_file', 'write'],
  ['edit', 'write'],
  ['shell', 'execute'],
  ['execute_command', 'execute'],
  ['push', 'git_push'],
]);

/** Nearly always the same few words: the names of operations and what stands in profiles. */
const SPELLED = new Map<string, string>();
const SPELLED_MAX = 500;

/** The one spelling of a word in a profile: a permission, an operation's name, or what the guardrails call an operation. */
export function oneWord(word: string): string {
  const known = SPELLED.get(word);
  if (known !== undefined) return known;
  const folded = word.trim().toLowerCase().replaceAll('-', '_');
  const spelled = SAME.get(folded) ?? folded;
  if (SPELLED.size < SPELLED_MAX) SPELLED.set(word, spelled);
  return spelled;
}

/** What is forbidden with it: whoever may not push may not push by force either. */
const WIDER: Partial<Record<Permission, readonly Permission[]>> = {
  git_push_branch: ['git_push'],
  git_push_main: ['git_push'],
  git_push_force: ['git_push'],
  git_push_force_main: ['git_push_force', 'git_push_main', 'git_push'],
};

export function widerThan(permission: Permission): readonly Permission[] {
  return WIDER[permission] ?? [];
}

/** What allows it. Whoever may push to main may not do so by force for that alone; `git_push` names all of them. */
export function allowedBy(permission: Permission): readonly Permission[] {
  return WIDER[permission] === undefined ? [permission] : [permission, 'git_push'];
}

/** The lowest level of the seed's table that has it. What is dangerous on top of that is the guardrails' business. */
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
 * No profile lists it: which hosts an agent reaches is said by its network policy. At level 0 those are its coordinator and what
 * the profile requires, and every attempt at another one is to be seen (domain/network/judge.ts).
 */
export const UNLISTED: ReadonlySet<Permission> = new Set(['network']);
