import { type FileProblem, PROBLEMS_MAX } from '../../../storage/yaml-file.ts';

type Path = readonly PropertyKey[];

/** Problems of a file that no field shows by itself. */
export class BoardFileFindings {
  readonly problems: FileProblem[];
  readonly warnings: FileProblem[];
  readonly #problem: (path: Path, reason: string) => FileProblem;

  constructor(
    problems: readonly FileProblem[],
    warnings: readonly FileProblem[],
    problem: (path: Path, reason: string) => FileProblem,
  ) {
    this.problems = [...problems];
    this.warnings = [...warnings];
    this.#problem = problem;
  }

  complain(path: Path, reason: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(this.#problem(path, reason));
  }

  warn(path: Path, reason: string): void {
    if (this.warnings.length < PROBLEMS_MAX) this.warnings.push(this.#problem(path, reason));
  }

  /** Something at this path is wrong, so nothing can be concluded from what is missing there. */
  isBroken(path: Path): boolean {
    const field = path.map(String).join('.');
    return this.problems.some((problem) => problem.field === field || problem.field.startsWith(`${field}.`));
  }
}

export function byLine(problems: readonly FileProblem[]): FileProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}
