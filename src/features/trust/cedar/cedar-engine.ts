import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import { leastTrustFor, oneWord, type PermitQuestion, type PolicyEngine, type Ruling } from '../permit.ts';
import type { Profile, Standing } from '../profile.ts';
import {
  BLOCKED,
  CONNECTION,
  COORDINATE,
  policiesOf,
  READ_ONLY,
  SCHEMA,
  TRUST,
} from './cedar-translation.ts';

type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

const SCHEMA_NAME = 'coxswain';
const RULINGS_MAX = 1000;
/** Only one agent asks at a time, and its name does not affect the result. */
const AGENT = { type: 'Agent', id: 'agent' };

/**
 * Cedar decides instead of our own rules, from the same profiles and with the same results
 * (test/features/trust/engines.test.ts). Loaded in advance: a commit can't wait for anything.
 */
export async function createCedarEngine(): Promise<PolicyEngine> {
  const cedar = await import('@cedar-policy/cedar-wasm/nodejs');
  const schema = cedar.preparseSchema(SCHEMA_NAME, SCHEMA);
  if (schema.type !== 'success') throw new Error(`Cedar: ${JSON.stringify(schema.errors)}`);
  return new CedarEngine(cedar);
}

class CedarEngine implements PolicyEngine {
  readonly name = 'cedar';
  readonly #cedar: Cedar;
  /** A profile is the same object until it is changed. */
  readonly #prepared = new WeakMap<Profile, string>();
  /**
   * The same question about the same standing has the same answer, and Cedar takes half a millisecond for it.
   */
  readonly #rulings = new WeakMap<Standing, Map<string, Ruling | undefined>>();
  #count = 0;

  constructor(cedar: Cedar) {
    this.#cedar = cedar;
  }

  rule(standing: Standing, question: PermitQuestion): Ruling | undefined {
    const { operation, group, permission, trust, door } = question;
    const key = JSON.stringify([operation, group, permission, trust, door]);
    let known = this.#rulings.get(standing);
    if (known === undefined || known.size >= RULINGS_MAX) {
      known = new Map();
      this.#rulings.set(standing, known);
    }
    if (!known.has(key)) known.set(key, this.#decide(standing, question));
    return known.get(key);
  }

  #decide(standing: Standing, question: PermitQuestion): Ruling | undefined {
    const answer = this.#ask(standing, question);
    // A question that can't be decided is not permitted.
    if (answer.type === 'failure') return { rule: 'not_allowed' };
    const { decision, diagnostics } = answer.response;
    if (decision === 'allow' && diagnostics.errors.length === 0) return undefined;
    return rulingOf(diagnostics.reason, standing.profile, question);
  }

  explain(standing: Standing, question: PermitQuestion): string[] {
    const answer = this.#ask(standing, question);
    if (answer.type === 'failure') return answer.errors.map(({ message }) => message);
    return [...answer.response.diagnostics.reason].sort();
  }

  #ask({ profile, trust_level }: Standing, question: PermitQuestion): AuthorizationAnswer {
    const { operation, group, permission = COORDINATE, door } = question;
    const resource = { type: 'Operation', id: oneWord(operation) };
    return this.#cedar.statefulIsAuthorized({
      principal: AGENT,
      action: { type: 'Action', id: permission },
      resource,
      context: door === undefined ? {} : { door },
      preparsedSchemaName: SCHEMA_NAME,
      preparsedPolicySetId: this.#policySet(profile),
      validateRequest: true,
      entities: [
        { uid: AGENT, attrs: { trust_level }, parents: [{ type: 'Profile', id: profile.name }] },
        {
          uid: resource,
          attrs: { least_trust: leastTrustFor(question) },
          parents: group === undefined ? [] : [{ type: 'Group', id: oneWord(group) }],
        },
      ],
    });
  }

  #policySet(profile: Profile): string {
    let name = this.#prepared.get(profile);
    if (name === undefined) {
      this.#count += 1;
      name = `profile-${this.#count}`;
      const parsed = this.#cedar.preparsePolicySet(name, { staticPolicies: policiesOf(profile) });
      if (parsed.type !== 'success') throw new Error(`Cedar: ${JSON.stringify(parsed.errors)}`);
      this.#prepared.set(profile, name);
    }
    return name;
  }
}

/**
 * The rules that forbade it, in the order in which our own engine checks them; none: nothing permitted it.
 */
function rulingOf(policies: readonly string[], profile: Profile, question: PermitQuestion): Ruling {
  if (policies.includes(CONNECTION)) return { rule: 'connection' };
  const blocked = policies
    .filter((id) => id.startsWith(BLOCKED))
    .map((id) => Number.parseInt(id.slice(BLOCKED.length), 10));
  if (blocked.length > 0)
    return { rule: 'blocked', word: profile.blocked_operations[Math.min(...blocked)] ?? '' };
  if (policies.includes(READ_ONLY)) return { rule: 'blocked', word: 'read_only_filesystem' };
  if (policies.includes(TRUST)) return { rule: 'trust', least: leastTrustFor(question) };
  return { rule: 'not_allowed' };
}
