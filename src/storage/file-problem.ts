/** What is wrong in a file, and where. */
export interface FileProblem {
  readonly line: number;
  readonly field: string;
  readonly reason: string;
}

/** The first problem in a sentence, for the message; the full list is returned beside it. */
export function firstProblem(path: string, problems: readonly FileProblem[]): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return `${path}:${first?.line}: ${first?.field}: ${first?.reason}${more}`;
}
