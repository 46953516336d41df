import { globMatches } from '../../kernel/glob.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type ClaimRules, normEdge } from '../claims/index.ts';

/** Why a promotion is for a person. */
export interface PromotionGate extends JsonObject {
  gate: 'spec_change' | 'new_adr' | 'human_required' | 'review' | 'dangerous';
  path?: string;
  reason: string;
}

/** An asset in as much as a gate goes by it. */
export interface Gated {
  /** Relative to the assets, as the globs are. */
  readonly asset: string;
  readonly path: string;
  readonly is_new: boolean;
}

/** In `promotion_requires`: what holds for every promotion anyway. */
const ALWAYS = /^(all_)?evaluators?(_(must_)?pass(ed)?)?$/;
/** The word for "a person looks at each one"; narrower ones (`human_review_for_spec_changes`) are gates of their own. */
const REVIEW = /^(human|persons?)_(review|approval)(_required)?$/;
const NARROWER = /^(human|persons?)_/;

/**
 * None: nothing a person has to see. What CLAIM-8 leaves to a person is lifted by nothing that the file says: not by a role's
 * `human_review_bypass`, nor by `spec_mutation_requires_human: false`; only the review that the file itself asked for is.
 */
export function gatesOf(
  rules: ClaimRules,
  { edge, agent_role }: { readonly edge: string; readonly agent_role: string | undefined },
  files: readonly Gated[],
): PromotionGate[] {
  const { isolation, edges } = rules;
  const gates: PromotionGate[] = [];
  const name = normEdge(edge);
  if (Object.hasOwn(edges, name) && edges[name]?.human_required === true)
    gates.push({ gate: 'human_required', reason: `A person decides about each promotion on ${name}.` });
  for (const { asset, path, is_new } of files) {
    if (matchesAny(isolation.spec_globs, asset))
      gates.push({ gate: 'spec_change', path, reason: 'It is part of the specification.' });
    else if (is_new && matchesAny(isolation.adr_globs, asset))
      gates.push({ gate: 'new_adr', path, reason: 'It is a new decision record.' });
  }
  const asksForReview = isolation.promotion_requires.some((word) => REVIEW.test(oneWord(word)));
  if (asksForReview && gates.length === 0 && !mayBypass(rules, agent_role))
    gates.push({ gate: 'review', reason: 'The rules ask for a review of each promotion.' });
  return gates;
}

/** Evaluators that have to be among those that passed. An unknown word is taken for one: rather too strict than not at all. */
export function requiredEvaluators({ edges, isolation }: ClaimRules, edge: string): string[] {
  const name = normEdge(edge);
  const ofEdge = Object.hasOwn(edges, name) ? (edges[name]?.evaluators ?? []) : [];
  const ofAll = isolation.promotion_requires.filter((word) => {
    const folded = oneWord(word);
    return !ALWAYS.test(folded) && !NARROWER.test(folded);
  });
  return [...new Set([...ofEdge, ...ofAll])];
}

const oneWord = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

function mayBypass({ roles }: ClaimRules, agent_role: string | undefined): boolean {
  if (agent_role === undefined || !Object.hasOwn(roles, agent_role)) return false;
  return roles[agent_role]?.human_review_bypass === true;
}

/** In any case: a disk may ignore it, and a person too many is better than one too few. */
function matchesAny(globs: readonly string[], asset: string): boolean {
  const folded = asset.toLowerCase();
  return globs.some((glob) => globMatches(glob.normalize('NFC').toLowerCase(), folded));
}
