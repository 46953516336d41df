/** A configuration file that we leave alone: what is wrong with it, and where. */
export class Unusable extends Error {
  readonly path: string;
  readonly line: number | undefined;
  /** What the person can do, if the answer is not simply to repair the file. */
  readonly remedy: string | undefined;
  constructor(path: string, line: number | undefined, problem: string, remedy?: string) {
    super(`${path}${line === undefined ? '' : `:${line}`} ${problem}`);
    this.path = path;
    this.line = line;
    this.remedy = remedy;
  }
}
