import type { JsonObject } from '../../../kernel/json.ts';
import { nearest } from '../../../kernel/nearest.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { type DoorName, PERMISSIONS, type Permission } from '../../../runtime/access.ts';
import type { AnyOperation, Operation, Step } from '../../../runtime/operation.ts';
import { CATEGORIES } from '../finding.ts';
import { leastTrustFor, oneWord, type PermitQuestion, permit } from '../permit.ts';
import { type Profile, type Standing, writesUnderLock } from '../profile.ts';
import { everyProfile, type RulebookState, standingOf } from '../rulebook.ts';
import { rulesFor } from '../rules/rulebook-reader.ts';

export interface CheckPolicyInput {
  operation: string;
  resource?: string | undefined;
  context?: unknown;
}

type All = () => ReadonlyMap<string, AnyOperation>;

/** `all`: the operations by their names, this one among them. */
export function checkPolicyAmong(all: All): Operation<CheckPolicyInput> {
  return {
    name: 'check_policy',
    group: 'profile',
    verb: 'check',
    summary: 'Would this be permitted, and why or why not? Changes nothing.',
    route: { method: 'POST', path: '/policy/check' },
    mutates: false,
    standard: false,
    positional: ['operation', 'resource'],
    examples: [
      'cox profile check write src/app.ts',
      `cox profile check git_push_main --context '{"agent_id":"alice"}'`,
    ],
    sample: { operation: 'write', resource: 'src/app.ts' },
    input: async () => (await import('../schemas/profile-schemas.ts')).checkPolicy,
    async handle({ operation, resource, context }, step) {
      const asked = await whoAndHow(context, step);
      if ('success' in asked) return asked as Refusal;
      const { standing, door } = asked as Asked;
      const asking = questionFor(operation, door, all(), await rulesFor(step).rulebook());
      if ('success' in asking) return asking;
      const { question, known } = asking;
      const { engine } = rulesFor(step);
      const ruling = engine.rule(standing, question);
      const refusal = permit(standing, question, engine);
      const { profile, trust_level, source } = standing;
      const writes = question.permission === 'write' && writesUnderLock(standing);
      return {
        success: true,
        allowed: refusal === undefined,
        reason: refusal?.message ?? `The profile ${profile.name} permits it.`,
        engine: engine.name,
        diagnostics: {
          operation: question.operation,
          resource,
          known,
          permission: question.permission,
          profile: profile.name,
          source,
          trust_level,
          required_trust_level: leastTrustFor(question),
          rule: ruling?.rule ?? 'permitted',
          error: refusal?.error,
          ...(writes ? { needs_lock: true } : {}),
          ...(engine.explain === undefined ? {} : { policies: engine.explain(standing, question) }),
        },
      };
    },
  };
}

interface Asked {
  readonly standing: Standing;
  readonly door: DoorName | undefined;
}

/** About the caller itself; about other agents only if the caller may see what they do. */
async function whoAndHow(context: unknown, step: Step): Promise<Asked | Refusal> {
  const { agent_id, agent_type, door } = (
    typeof context === 'object' && context !== null ? context : {}
  ) as JsonObject;
  const by = (typeof door === 'string' ? door : step.door) as DoorName | undefined;
  const isOther =
    (agent_id !== undefined && agent_id !== step.caller.agent_id) ||
    (agent_type !== undefined && agent_type !== step.caller.agent_type);
  if (!isOther) return { standing: await rulesFor(step).standing(), door: by };
  if (step.authority === 'agent')
    return refuse('forbidden', 'An agent asks about itself only.', { field: 'context' });
  const actor = { agent_id: String(agent_id ?? ''), agent_type: String(agent_type ?? 'unknown') };
  return {
    standing: standingOf(await rulesFor(step).rulebook(), actor, rulesFor(step).default_trust),
    door: typeof door === 'string' ? by : undefined,
  };
}

/** An operation of ours, a permission, or a word of a profile's lists or of the guardrails. Any other word would seem to be permitted. */
function questionFor(
  asked: string,
  door: DoorName | undefined,
  operations: ReadonlyMap<string, AnyOperation>,
  rules: RulebookState | undefined,
): { question: PermitQuestion; known: string } | Refusal {
  const word = oneWord(asked);
  const operation = operations.get(word);
  if (operation !== undefined) {
    const { name, group, permission, trust } = operation;
    return { question: { operation: name, group, permission, trust, door }, known: 'operation' };
  }
  const permission = PERMISSIONS.find((each) => each === word) as Permission | undefined;
  if (permission !== undefined)
    return { question: { operation: word, permission, door }, known: 'permission' };
  const words = new Set([...CATEGORIES, ...everyProfile(rules).flatMap(wordsOf)].map(oneWord));
  if (words.has(word)) return { question: { operation: word, door }, known: 'word' };
  const near = nearest(word, [...new Set([...operations.keys(), ...PERMISSIONS, ...words])]);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return refuse('unknown_operation', `There is no operation or permission ${JSON.stringify(asked)}.${hint}`, {
    field: 'operation',
  });
}

function wordsOf({ allowed_operations, blocked_operations, elevated_operations }: Profile): string[] {
  return [...allowed_operations, ...blocked_operations, ...elevated_operations];
}
