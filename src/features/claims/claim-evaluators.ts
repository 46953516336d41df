import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { ClaimCommand } from './acting.ts';
import { edgeTerms } from './claim-rules.ts';
import { normEdge } from './edge.ts';

export interface Evaluator {
  readonly name: string;
  readonly passed: boolean;
}

/** One by one, or as `passed/total`. */
export type ClaimEvaluators = readonly Evaluator[] | string;

/**
 * `p/t` as it stands in the log, or why this is no convergence. A required evaluator that is not named has
 * not passed.
 */
export function evaluated(
  { rules, edge }: Pick<ClaimCommand, 'rules' | 'edge'>,
  given: ClaimEvaluators | undefined,
): { readonly evaluators: string | undefined } | Refusal {
  const required = edgeTerms(rules, edge).evaluators ?? [];
  const list = Array.isArray(given) ? (given as readonly Evaluator[]) : [];
  const missing = required.filter((name) => !list.some((each) => each.name === name));
  const failed = [...new Set(list.filter(({ passed }) => !passed).map(({ name }) => name))];
  const [passed, total] = counted(given, list);
  if (missing.length === 0 && failed.length === 0 && passed === total)
    return { evaluators: given === undefined ? undefined : `${passed}/${total}` };
  const evaluators = `${passed}/${total}`;
  const parts = [
    ...(passed === total ? [] : [`${passed} of ${total} passed`]),
    ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`nobody says that they passed: ${missing.join(', ')}`]),
  ];
  const message = `${normEdge(edge)} has not converged; ${parts.join('; ')}.`;
  return refuse('evaluators_failed', message, { evaluators, failed, missing });
}

function counted(
  given: ClaimEvaluators | undefined,
  list: readonly Evaluator[],
): [passed: number, total: number] {
  if (typeof given !== 'string') return [list.filter(({ passed }) => passed).length, list.length];
  const [passed = Number.NaN, total = Number.NaN] = given.split('/').map(Number);
  return [passed, total];
}
