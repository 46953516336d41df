const RESULTS_MAX = 64;
const SOURCE_CHARS_MAX = 2000;
const ROUNDS_MAX = 400;

/** The end of a quoted or substituted part that starts at `at`, or `at` if there is none. */
function skipQuoted(text: string, at: number): number {
  const character = text[at];
  if (character === '\\') return at + 1;
  if (character === "'" || character === '"' || character === '`') {
    for (let end = at + 1; end < text.length; end += 1) {
      if (text[end] === '\\' && character !== "'") end += 1;
      else if (text[end] === character) return end;
    }
    return text.length;
  }
  const closing = character === '$' ? ({ '{': '}', '(': ')' } as const)[text[at + 1] ?? ''] : undefined;
  if (closing === undefined) return at;
  let depth = 0;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === text[at + 1]) depth += 1;
    else if (text[end] === closing) depth -= 1;
    if (depth === 0) return end;
  }
  return text.length;
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly choices: readonly string[];
}

function sequence(inside: string): string[] | undefined {
  const match = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(inside);
  if (match === null) return undefined;
  const [from = '', to = ''] = match.slice(1);
  const numeric = /\d/.test(from) && /\d/.test(to);
  if (!numeric && (/\d/.test(from) || /\d/.test(to))) return undefined;
  const [first, last] = numeric ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = Math.abs(Number(match[3] ?? 1)) || 1;
  if (Math.abs(last - first) / step >= RESULTS_MAX) return ['*'];
  const width = numeric && /^-?0\d/.test(from) ? from.length : 0;
  const found: string[] = [];
  for (let at = first; first <= last ? at <= last : at >= last; at += first <= last ? step : -step) {
    found.push(numeric ? String(at).padStart(width, '0') : String.fromCharCode(at));
  }
  return found;
}

function braceAt(text: string, start: number): Brace | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at += 1) {
    const skipped = skipQuoted(text, at);
    if (skipped !== at) at = skipped;
    else if (text[at] === '{') depth += 1;
    else if (text[at] === ',' && depth === 1) {
      choices.push(text.slice(from, at));
      from = at + 1;
    } else if (text[at] === '}') {
      depth -= 1;
      if (depth > 0) continue;
      const last = text.slice(from, at);
      const found = choices.length > 0 ? [...choices, last] : sequence(last);
      return found === undefined ? undefined : { start, end: at + 1, choices: found };
    }
  }
  return undefined;
}

function firstBrace(text: string): Brace | undefined {
  // Each search may run to the end: a text of nothing but braces is given up, because its cost would be
  // quadratic.
  let looks = 0;
  for (let at = 0; at < text.length && looks < RESULTS_MAX; at += 1) {
    const skipped = skipQuoted(text, at);
    if (skipped !== at) at = skipped;
    else if (text[at] === '{') {
      looks += 1;
      const brace = braceAt(text, at);
      if (brace !== undefined) return brace;
    }
  }
  return undefined;
}

/** `a{b,c}d` → `abd`, `acd`: the source of each word, still quoted. Undefined: more than are followed. */
export function expandBraces(source: string): readonly string[] | undefined {
  if (source.length > SOURCE_CHARS_MAX) return undefined;
  const done: string[] = [];
  const open = [source];
  for (let rounds = 0; open.length > 0; rounds += 1) {
    if (rounds > ROUNDS_MAX || done.length > RESULTS_MAX) return undefined;
    const text = open.shift() as string;
    const brace = firstBrace(text);
    if (brace === undefined) done.push(text);
    else {
      const { start, end, choices } = brace;
      open.unshift(...choices.map((choice) => text.slice(0, start) + choice + text.slice(end)));
    }
  }
  return done;
}
