import { PERMISSIONS, type Permission } from '../../../runtime/access.ts';
import { oneWord, UNLISTED, WAYS_IN, widerThan } from '../permit.ts';
import type { Profile } from '../profile.ts';

/** What needs no permission at all: locks, queue, mail and the like. */
export const COORDINATE = 'coordinate';

/** One Cedar type of each; what forbids a wider permission also forbids its narrower ones. */
export const SCHEMA = `
entity Profile;
entity Agent in [Profile] { trust_level: Long };
entity Group;
entity Operation in [Group] { least_trust: Long };
${[COORDINATE, ...PERMISSIONS].map(declareAction).join('\n')}
`;

function declareAction(name: string): string {
  const wider = PERMISSIONS.some((each) => each === name) ? widerThan(name as Permission) : [];
  const above = wider.length === 0 ? '' : ` in [${wider.map(quoted).join(', ')}]`;
  return `action ${quoted(name)}${above} appliesTo { principal: Agent, resource: Operation, context: { door?: String } };`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

const isPermission = (word: string) => PERMISSIONS.some((each) => each === word);

export type Policies = Record<string, string>;

/** The ids say which rule of ours a policy stands for; Cedar's decisions are translated back by them. */
export const BLOCKED = 'blocked/';
export const TRUST = 'trust';
export const CONNECTION = 'connection';
export const READ_ONLY = 'guardrail/read_only_filesystem';

/** A profile as Cedar policies: what it allows is permitted, what it blocks is forbidden, and forbid wins. */
export function policiesOf(profile: Profile): Policies {
  const who = `principal in Profile::${quoted(profile.name)}`;
  const policies: Policies = {
    [COORDINATE]: `permit(${who}, action == Action::${quoted(COORDINATE)}, resource);`,
    [TRUST]: `forbid(${who}, action, resource) unless { principal.trust_level >= resource.least_trust };`,
  };
  for (const permission of UNLISTED)
    policies[`unlisted/${permission}`] = `permit(${who}, action == Action::${quoted(permission)}, resource);`;
  for (const word of new Set(profile.allowed_operations.map(oneWord))) {
    // This one word covers all pushes; every other word means only itself.
    const how = word === 'git_push' ? 'in' : '==';
    if (isPermission(word))
      policies[`allowed/${word}`] = `permit(${who}, action ${how} Action::${quoted(word)}, resource);`;
    policies[`allowed/operation/${word}`] = `permit(${who}, action, resource == Operation::${quoted(word)});`;
  }
  for (const [index, given] of profile.blocked_operations.entries()) {
    const word = oneWord(given);
    const id = `${BLOCKED}${index}`;
    if (isPermission(word)) policies[id] = `forbid(${who}, action in Action::${quoted(word)}, resource);`;
    policies[`${id}/operation`] = `forbid(${who}, action, resource == Operation::${quoted(word)});`;
    policies[`${id}/group`] = `forbid(${who}, action, resource in Group::${quoted(word)});`;
  }
  if (profile.guardrails.includes('read_only_filesystem'))
    policies[READ_ONLY] =
      `forbid(${who}, action in [Action::"write", Action::"credential_modify"], resource);`;
  if (profile.connection !== undefined) {
    const ways = WAYS_IN[profile.connection].map(quoted).join(', ');
    policies[CONNECTION] =
      `forbid(${who}, action, resource) when { context has door && !([${ways}].contains(context.door)) };`;
  }
  return policies;
}
