import type { FileProblem } from './file-problem.ts';

const DEPTH_MAX = 200;

/** The parser takes seconds for thousands of nested brackets; no hand-written file has those. */
export function depthProblem(text: string): FileProblem | undefined {
  let depth = 0;
  let line = 1;
  for (const [mark] of text.matchAll(/[[\]{}\n]|(?:- ){200}/g)) {
    if (mark === '\n') line += 1;
    else if (mark === '[' || mark === '{') depth += 1;
    else if (mark === ']' || mark === '}') depth = Math.max(0, depth - 1);
    if (depth > DEPTH_MAX || mark.length > 1) return { line, field: 'file', reason: 'nested too deeply' };
  }
  return undefined;
}
