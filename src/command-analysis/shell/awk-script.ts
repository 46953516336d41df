const PRINTS = /\bprintf?\b/g;
/** A string, or a variable. */
const TARGET = />>?\s*\(?\s*(?:"([^"\n]+)"|([A-Za-z_]\w*))/y;
/** An index, or a character class in a pattern: nothing inside ends anything. */
const BRACKETS = /\[[^[\]"\n]*\]/y;
/** Real programs don't nest deeper; and each depth is a bit of a number, whose 31 bits two states share. */
const DEPTH_MAX = 15;

/** The target of an awk program's `print`: a literal name, or the variable that contains it. */
export interface AwkTarget {
  readonly path?: string | undefined;
  readonly variable?: string | undefined;
}

/**
 * Follows each `print` to the `>` that belongs to it. It is unknown whether a `print` is a statement, because
 * it may be in a string or a pattern. So there is a path from each, and a path that reaches a place where
 * another was in the same state ends there. That keeps the cost proportional to the length of the program.
 */
class Program {
  readonly #text: string;
  readonly #been: Uint32Array;

  constructor(text: string) {
    this.#text = text;
    this.#been = new Uint32Array(text.length);
  }

  *targets(): Generator<AwkTarget> {
    for (const { index, 0: word } of this.#text.matchAll(PRINTS)) {
      const at = this.#redirection(index + word.length);
      if (at === undefined) continue;
      TARGET.lastIndex = at;
      const [found, path, variable] = TARGET.exec(this.#text) ?? [];
      if (found !== undefined) yield { path, variable };
    }
  }

  /**
   * The `>` of the statement whose words begin there. In parentheses it is a comparison, and in a string a
   * character.
   */
  #redirection(start: number): number | undefined {
    let depth = 0;
    let quoted = false;
    for (let at = start; at < this.#text.length && depth < DEPTH_MAX; at += 1) {
      if (this.#wasAt(at, depth, quoted)) return undefined;
      const sign = this.#text.charAt(at);
      // It escapes the next character, even the end of a line.
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = !quoted;
      else if (sign === '\n') return undefined;
      else if (quoted) continue;
      else if (sign === '(') depth += 1;
      else if (sign === ')') depth = Math.max(depth - 1, 0);
      else if (sign === '[') at += this.#bracketsAt(at);
      else if (sign === ';' || sign === '}') return undefined;
      else if (sign === '>' && depth === 0) return at;
    }
    return undefined;
  }

  #wasAt(at: number, depth: number, quoted: boolean): boolean {
    const before = this.#been[at] ?? 0;
    const state = 1 << (2 * depth + (quoted ? 1 : 0));
    this.#been[at] = before | state;
    return (before & state) !== 0;
  }

  /** The length of the brackets after a `[`. */
  #bracketsAt(at: number): number {
    BRACKETS.lastIndex = at;
    return (BRACKETS.exec(this.#text)?.[0].length ?? 1) - 1;
  }
}

/** What the statements of an awk program write to: `print … > "x"`, `printf … >> name`. */
export function awkTargets(program: string): AwkTarget[] {
  return program.includes('>') ? [...new Program(program).targets()] : [];
}
