import { FUNCTIONS, METHODS } from './code-functions.ts';
import { type Token, tokensOf } from './code-tokens.ts';
import { concatenated, filled, text, unknown, type Value } from './code-value.ts';

const DEPTH_MAX = 24;
const STEPS_MAX = 20_000;

const BEFORE_VALUES = new Set('await new not typeof return yield my const let var'.split(' '));
const OPENS = new Set(['(', '[', '{']);
const CLOSES = new Set([')', ']', '}']);
const REACHES = new Set(['.', '->', '::']);

/** A program may use a name that every object has: `constructor`. */
function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Reads expressions in a list of tokens, using the values assigned to its variables so far. */
export class Expressions {
  readonly tokens: readonly Token[];
  readonly variables: Map<string, Value>;
  #steps = 0;

  constructor(tokens: readonly Token[], variables: Map<string, Value>) {
    this.tokens = tokens;
    this.variables = variables;
  }

  is(at: number, sign: string): boolean {
    const token = this.tokens[at];
    return token?.kind === 'sign' && token.value === sign;
  }

  #skipLines(at: number): number {
    let now = at;
    while (this.is(now, '\n')) now += 1;
    return now;
  }

  /** The value of the expression at `from`, and where it ends. */
  expression(from: number, depth = 0): { value: Value; end: number } {
    this.#steps += 1;
    if (depth > DEPTH_MAX || this.#steps > STEPS_MAX) return { value: unknown('…'), end: from + 1 };
    let { value, end } = this.#operand(this.#skipLines(from), depth);
    for (;;) {
      const sign = this.tokens[end]?.kind === 'sign' ? this.tokens[end]?.value : undefined;
      // Adjacent strings are one string in Python.
      if (this.tokens[end]?.kind === 'text' && value.kind === 'text') {
        const next = this.#operand(end, depth);
        value = concatenated(value, next.value);
        end = next.end;
      } else if (sign === '+' || (sign === '.' && this.tokens[end + 1]?.kind !== 'name')) {
        const next = this.#operand(this.#skipLines(end + 1), depth);
        value = concatenated(value, next.value);
        end = next.end;
      } else if (sign === '/' && value.kind === 'text') {
        const next = this.#operand(end + 1, depth);
        value = concatenated(concatenated(value, text('/')), next.value);
        end = next.end;
      } else if (sign === '*') {
        const next = this.#operand(end + 1, depth);
        value = repeated(value, next.value);
        end = next.end;
      } else if (sign === '%' && value.kind === 'text') {
        const next = this.#operand(end + 1, depth);
        value = filled(value, next.value.kind === 'list' ? next.value.items : [next.value]);
        end = next.end;
      } else if (
        sign === '-' ||
        sign === '<' ||
        sign === '>' ||
        sign === '?' ||
        sign === '|' ||
        sign === '&'
      ) {
        return { value: unknown('…'), end };
      } else return { value, end };
    }
  }

  #operand(from: number, depth: number): { value: Value; end: number } {
    const token = this.tokens[from];
    if (token === undefined) return { value: unknown('…'), end: from };
    let value: Value;
    let end = from + 1;
    if (token.kind === 'text') value = this.#text(token, depth);
    else if (token.kind === 'number') value = { kind: 'number', number: Number(token.value) };
    else if (token.kind === 'name') {
      if (BEFORE_VALUES.has(token.value)) return this.#operand(from + 1, depth);
      value = this.variables.get(token.value) ?? { kind: 'function', name: token.value };
      // `glob "x"` of Perl and Ruby.
      const called = this.tokens[end]?.kind === 'text' ? own(FUNCTIONS, token.value) : undefined;
      if (called !== undefined) {
        const argument = this.#operand(end, depth + 1);
        return { value: called([argument.value]), end: argument.end };
      }
    } else if (token.value === '[' || token.value === '(' || token.value === '{') {
      const items = this.list(from, depth);
      // Parentheses around a single value are that value.
      value =
        token.value === '(' && items.values.length === 1 && !items.trailing
          ? (items.values[0] as Value)
          : { kind: 'list', items: items.values };
      end = items.end;
    } else return { value: unknown(token.value), end };
    return this.#behind(value, end, depth);
  }

  #text(token: Token, depth: number): Value {
    if (token.parts === undefined) return text(token.value);
    return token.parts.reduce<Value>((left, part) => {
      if (typeof part === 'string') return concatenated(left, text(part));
      const inner = new Expressions(tokensOf(part.code.replace(/[!:][^'"]*$/, '')), this.variables);
      const { value } = inner.expression(0, depth + 1);
      return concatenated(left, value.kind === 'function' ? unknown(part.code) : value);
    }, text(''));
  }

  /** `.name`, `(…)`, `[…]` after a value. */
  #behind(start: Value, from: number, depth: number): { value: Value; end: number } {
    let value = start;
    let end = from;
    for (;;) {
      const at = this.#skipLines(end);
      const token = this.tokens[at];
      if (token?.kind !== 'sign') return { value, end };
      const name = this.tokens[at + 1];
      if (REACHES.has(token.value) && name?.kind === 'name') {
        if (this.is(at + 2, '(')) {
          const { values, end: after } = this.list(at + 2, depth);
          const result = own(FUNCTIONS, name.value)?.(values);
          // PHP joins strings with a dot: `"rm " . escapeshellarg($x)`.
          const joined = value.kind === 'text' && result !== undefined ? concatenated(value, result) : result;
          value = own(METHODS, name.value)?.(value, values) ?? joined ?? unknown(name.value);
          end = after;
        } else {
          value = own(METHODS, name.value)?.(value, []) ?? { kind: 'function', name: name.value };
          end = at + 2;
        }
      } else if (token.value === '(' && at === end && value.kind === 'function') {
        const { values, end: after } = this.list(at, depth);
        value = own(FUNCTIONS, value.name)?.(values) ?? unknown(value.name);
        end = after;
      } else if (token.value === '[' && at === end) {
        const { values, end: after } = this.list(at, depth);
        value = METHODS['[]']?.(value, this.#slice(at) ?? values) ?? unknown('…');
        end = after;
      } else return { value, end };
    }
  }

  /** `[::-1]` reverses a string. */
  #slice(at: number): Value[] | undefined {
    const inside = [1, 2, 3, 4].map((offset) => this.tokens[at + offset]?.value).join('');
    return inside === '::-1' || inside.startsWith('::-1') ? [text('::-1')] : undefined;
  }

  /** What is between brackets, separated by commas. */
  list(from: number, depth: number): { values: Value[]; end: number; trailing: boolean } {
    const values: Value[] = [];
    let trailing = false;
    let at = this.#skipLines(from + 1);
    while (at < this.tokens.length) {
      const token = this.tokens[at];
      if (token?.kind === 'sign' && CLOSES.has(token.value)) return { values, end: at + 1, trailing };
      // `shell=True`: a named argument counts by its value.
      const named =
        token?.kind === 'name' && (this.is(at + 1, '=') || this.is(at + 1, ':') || this.is(at + 1, '=>'));
      const { value, end } = this.expression(named ? at + 2 : at, depth + 1);
      if (!named || value.kind !== 'function') values.push(value);
      at = this.#toComma(Math.max(end, at + 1));
      trailing = this.is(at, ',');
      if (trailing) at = this.#skipLines(at + 1);
    }
    return { values, end: at, trailing };
  }

  /** Skips what is no readable expression, up to the next comma or bracket of this level. */
  #toComma(from: number): number {
    let open = 0;
    for (let at = from; at < this.tokens.length; at += 1) {
      const token = this.tokens[at];
      if (token?.kind !== 'sign') continue;
      if (OPENS.has(token.value)) open += 1;
      else if (CLOSES.has(token.value)) {
        if (open === 0) return at;
        open -= 1;
      } else if (token.value === ',' && open === 0) return at;
    }
    return this.tokens.length;
  }
}

function repeated(value: Value, times: Value): Value {
  if (value.kind !== 'text' || times.kind !== 'number') return unknown('…');
  return value.text.length * times.number > 1000
    ? unknown('…')
    : text(value.text.repeat(Math.max(0, times.number)));
}
