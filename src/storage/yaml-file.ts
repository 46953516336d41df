import { isMap, isNode, isScalar, LineCounter, parseDocument, type Tags } from 'yaml';
import type { z } from 'zod';
import type { FileProblem } from './file-problem.ts';

export type { FileProblem } from './file-problem.ts';

type Path = readonly PropertyKey[];

/** The reason of a problem that does not matter when reading other programs' files. */
export const UNKNOWN_FIELD = 'unknown field';

/** No reader needs more of them at once. */
export const PROBLEMS_MAX = 200;

export interface YamlOptions {
  /** Every value is the text as written (`007`, `1.10`), or null; `<<` merges, as in Docker Compose files. */
  readonly texts?: boolean;
  /** A problem's line is that of the key: its value may begin on the line below. */
  readonly key_lines?: boolean;
}

export interface ReadYaml<T> {
  /** Undefined: the file has nothing that could be checked further. */
  readonly value: T | undefined;
  readonly problems: readonly FileProblem[];
  /** For problems of the whole where each part is valid. */
  problem(path: Path, reason: string): FileProblem;
}

/**
 * Returns every problem at once, each with its line, so that a person can correct the file in one go. `loose`
 * is the same schema without the check for unknown fields, so that the rest can be checked in spite of them.
 */
export function readYaml<S extends z.ZodType>(
  text: string,
  schema: S,
  loose: z.ZodType<unknown> = schema,
  { texts = false, key_lines = false }: YamlOptions = {},
): ReadYaml<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    ...(texts ? { merge: true, customTags: textsOnly } : {}),
  });
  /** The line of the named node or, if it is missing, of the nearest one around it. */
  const lineOf = (path: Path): number => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      if (!isNode(node) || !node.range) continue;
      const around = length < 2 ? document.contents : document.getIn(path.slice(0, length - 1), true);
      const key = key_lines ? keyStart(around, path[length - 1]) : undefined;
      return lines.linePos(key ?? node.range[0]).line;
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
  } catch (error) {
    return { value: undefined, problems: [problem([], aliasProblem(error))], problem };
  }
  const parsed = schema.safeParse(given ?? {});
  const found = (parsed.error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], reason: UNKNOWN_FIELD }))
      : [{ path: issue.path, reason: issue.message.replace(/^Invalid input: /, '') }],
  );
  const problems = fewest(found).map(({ path, reason }) => problem(path, reason));
  return {
    value: parsed.data ?? (loose.safeParse(given).data as z.output<S> | undefined),
    problems,
    problem,
  };
}

function keyStart(around: unknown, key: PropertyKey | undefined): number | undefined {
  if (!isMap(around)) return undefined;
  const pair = around.items.find((item) => isScalar(item.key) && item.key.value === key);
  return isNode(pair?.key) ? pair.key.range?.[0] : undefined;
}

/**
 * Finding the line of each problem takes a while, so the list is limited. The limit must not drop other
 * problems in favour of unknown fields, which some callers ignore.
 */
function fewest<T extends { readonly reason: string }>(found: readonly T[]): readonly T[] {
  if (found.length <= PROBLEMS_MAX) return found;
  const rank = ({ reason }: T) => Number(reason === UNKNOWN_FIELD);
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, PROBLEMS_MAX);
}

function textsOnly(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !/:(?:bool|int|float)$/.test(tag.tag));
}

function aliasProblem(error: unknown): string {
  const [message = ''] = (error instanceof Error ? error.message : '').split('\n', 1);
  return /^(?:Unresolved alias|Merge sources)/.test(message) ? message : 'too many aliases';
}
