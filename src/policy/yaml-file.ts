import { isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { FileProblem } from './file-problem.ts';

export type { FileProblem } from './file-problem.ts';

type Path = readonly PropertyKey[];

export interface ReadYaml<T> {
  /** Undefined: nothing that could be looked at any further. */
  readonly value: T | undefined;
  readonly problems: readonly FileProblem[];
  /** For what the whole does not allow, though each part does. */
  problem(path: Path, reason: string): FileProblem;
}

/**
 * Every problem at once, each with its line: whoever mends the file does it in one go. `loose` is the same schema without its
 * complaint about unknown fields, so that the rest can be looked at in spite of them.
 */
export function readYaml<S extends z.ZodType>(
  text: string,
  schema: S,
  loose: z.ZodType<unknown> = schema,
): ReadYaml<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  /** The line of the named node or, if it is not there, of the nearest one around it. */
  const lineOf = (path: Path): number => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const problem = (path: Path, reason: string): FileProblem => ({
    line: lineOf(path),
    field: path.map(String).join('.') || 'file',
    reason,
  });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      line: lines.linePos(error.pos[0]).line,
      field: 'file',
      reason: error.message.split('\n', 1)[0] ?? 'no YAML',
    }));
    return { value: undefined, problems, problem };
  }
  let given: unknown;
  try {
    given = document.toJS();
  } catch {
    return { value: undefined, problems: [problem([], 'too many aliases')], problem };
  }
  const parsed = schema.safeParse(given ?? {});
  const problems = (parsed.error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => problem([...issue.path, key], 'unknown field'))
      : [problem(issue.path, issue.message.replace(/^Invalid input: /, ''))],
  );
  return {
    value: parsed.data ?? (loose.safeParse(given).data as z.output<S> | undefined),
    problems,
    problem,
  };
}
