import { limits } from './limits.ts';
import { labelProblem } from './names.ts';

// One rule for calls and for files: a call that is left as a file has to be readable again.

export const SCORE = /^\d{1,6}\/\d{1,6}$/;

/** `passed/total`. */
export function isScore(text: string): boolean {
  const [passed = 0, total = 0] = text.split('/').map(Number);
  return SCORE.test(text) && passed <= total;
}

export function isEvaluatorName(value: unknown): value is string {
  return labelProblem(value, limits.evaluator_name_chars_max) === undefined;
}
