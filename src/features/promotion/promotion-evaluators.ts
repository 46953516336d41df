import { type Refusal, refuse } from '../../kernel/refusal.ts';

/** What an agent says of its evaluators: each by its name, or how many of how many passed. */
export type PromotionEvaluators = readonly { readonly name: string; readonly passed: boolean }[] | string;

/** Undefined: all have passed, and all that had to be there were. Nothing said is not "passed". */
export function refuseUnpassed(
  evaluators: PromotionEvaluators | undefined,
  required: readonly string[],
): Refusal | undefined {
  const [passed, total] = countOf(evaluators);
  const details = { evaluators: `${passed}/${total}`, required: [...required] };
  if (total === 0) return refuse('evaluators_failed', 'No evaluator is said to have passed.', details);
  if (passed !== total)
    return refuse('evaluators_failed', `${passed} of ${total} evaluators passed.`, details);
  const names = typeof evaluators === 'string' ? [] : (evaluators ?? []).map(({ name }) => name);
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length === 0) return undefined;
  const message = `These have to have passed, each by its name: ${missing.join(', ')}.`;
  return refuse('evaluators_failed', message, { ...details, missing });
}

function countOf(evaluators: PromotionEvaluators | undefined): [passed: number, total: number] {
  if (evaluators === undefined) return [0, 0];
  if (typeof evaluators !== 'string')
    return [evaluators.filter(({ passed }) => passed).length, evaluators.length];
  const [, passed, total] = /^(\d{1,4})\/(\d{1,4})$/.exec(evaluators) ?? [];
  return [Number(passed ?? 0), Number(total ?? 0)];
}
