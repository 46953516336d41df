import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Demand, DoorName, Permission, TrustLevel } from '../../runtime/access.ts';
import type { Profile, Standing } from './profile.ts';

/** How an engine refuses; `why` is a rule's name, the same for every engine. */
export type Ruling =
  | { readonly rule: 'connection' }
  | { readonly rule: 'blocked'; readonly word: string }
  | { readonly rule: 'not_allowed' }
  | { readonly rule: 'trust'; readonly least: TrustLevel };

export type PermitQuestion = Pick<Demand, 'operation' | 'group' | 'permission' | 'trust' | 'door'>;

/**
 * The deciding engine: the native rules here, or Cedar. Pure and synchronous, because it runs inside commits.
 */
export interface PolicyEngine {
  readonly name: 'native' | 'cedar';
  /** Undefined: permitted. */
  rule(standing: Standing, question: PermitQuestion): Ruling | undefined;
  /** The rules by which it decided, where they have names. */
  explain?(standing: Standing, question: PermitQuestion): string[];
}

/** The doors of each `connection`. A local agent may use any of them, a remote one only HTTP. */
export const WAYS_IN: Record<NonNullable<Profile['connection']>, readonly DoorName[]> = {
  mcp: ['mcp', 'mcp_http', 'cli', 'hook', 'library'],
  http_api: ['http', 'mcp_http'],
  agentcore_gateway: ['http', 'mcp_http', 'library'],
};

/** The words by which a profile can block it, most specific first. */
function wordsFor({ operation, group, permission }: PermitQuestion): string[] {
  const words = [oneWord(operation)];
  if (permission !== undefined) words.push(permission, ...widerThan(permission));
  if (group !== undefined) words.push(oneWord(group));
  return words;
}

export function leastTrustFor({ permission, trust = 0 }: PermitQuestion): TrustLevel {
  return permission === undefined ? trust : (Math.max(trust, leastTrust(permission)) as TrustLevel);
}

/** A guardrail that acts as a permission: an agent that has it writes nothing. */
const READ_ONLY: ReadonlySet<Permission> = new Set(['write', 'credential_modify']);

interface Folded {
  readonly allowed: ReadonlySet<string>;
  readonly blocked: readonly string[];
}

/** A profile is the same object until it is changed, and every commit asks. */
const folded = new WeakMap<Profile, Folded>();

function foldedLists(profile: Profile): Folded {
  let lists = folded.get(profile);
  if (lists === undefined) {
    const { allowed_operations, blocked_operations } = profile;
    lists = { allowed: new Set(allowed_operations.map(oneWord)), blocked: blocked_operations.map(oneWord) };
    folded.set(profile, lists);
  }
  return lists;
}

export const nativeEngine: PolicyEngine = {
  name: 'native',
  rule({ profile, trust_level }, question) {
    const { operation, permission, door } = question;
    const { connection } = profile;
    if (connection !== undefined && door !== undefined && !WAYS_IN[connection].includes(door))
      return { rule: 'connection' };
    // Blocked beats allowed.
    const { allowed, blocked } = foldedLists(profile);
    if (blocked.length > 0) {
      const words = wordsFor(question);
      const index = blocked.findIndex((each) => words.includes(each));
      if (index !== -1) return { rule: 'blocked', word: profile.blocked_operations[index] ?? '' };
    }
    if (permission !== undefined && READ_ONLY.has(permission)) {
      if (profile.guardrails.includes('read_only_filesystem'))
        return { rule: 'blocked', word: 'read_only_filesystem' };
    }
    const least = leastTrustFor(question);
    if (trust_level < least) return { rule: 'trust', least };
    if (permission === undefined || UNLISTED.has(permission)) return undefined;
    const isAllowed =
      allowed.has(oneWord(operation)) || allowedBy(permission).some((each) => allowed.has(each));
    return isAllowed ? undefined : { rule: 'not_allowed' };
  },
};

/** The refusal an agent reads, or undefined when the call is permitted. */
export function permit(
  standing: Standing,
  question: PermitQuestion,
  engine: PolicyEngine = nativeEngine,
): Refusal | undefined {
  const ruling = engine.rule(standing, question);
  return ruling === undefined ? undefined : refusalFor(ruling, standing, question);
}

function refusalFor(ruling: Ruling, { profile, trust_level }: Standing, question: PermitQuestion): Refusal {
  const { operation, permission, door } = question;
  const about = { operation, permission, profile: profile.name };
  switch (ruling.rule) {
    case 'connection': {
      const { connection } = profile;
      const ways = connection === undefined ? [] : WAYS_IN[connection];
      const message = `Agents with the profile ${profile.name} come in by ${ways.join(', ')}, not by ${door}.`;
      return refuse('operation_not_permitted', message, { ...about, connection, door });
    }
    case 'blocked': {
      const message = `The profile ${profile.name} blocks ${ruling.word}, and ${operation} with it.`;
      return refuse('operation_not_permitted', message, { ...about, blocked_by: ruling.word });
    }
    case 'not_allowed': {
      const message = `${operation} needs the permission ${permission}, which the profile ${profile.name} does not have.`;
      return refuse('operation_not_permitted', message, about);
    }
    case 'trust': {
      const message = `${operation} takes trust level ${ruling.least}; you have ${trust_level} (profile ${profile.name}).`;
      const levels = { required_trust_level: ruling.least, trust_level };
      return refuse('insufficient_trust_level', message, { ...about, ...levels });
    }
  }
}

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
function allowedBy(permission: Permission): readonly Permission[] {
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

function leastTrust(permission: Permission): TrustLevel {
  return LEAST_TRUST[permission];
}

/**
 * No profile lists it: an agent's network policy says which hosts it reaches. At level 0 those are its
 * coordinator and what the profile requires, and every attempt to reach another host must be visible
 * (domain/network/judge.ts).
 */
export const UNLISTED: ReadonlySet<Permission> = new Set(['network']);
