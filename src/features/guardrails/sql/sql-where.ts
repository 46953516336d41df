import type { Token } from './sql-tokens.ts';

const BRACKETS_MAX = 20;
const CLAUSE_ENDS = new Set(['RETURNING', 'ORDER', 'LIMIT', 'OPTION', 'OUTPUT']);
/** A column that every row has. */
const KEY_COLUMN = /^(?:ID|_ID|ROWID|CTID|OID|UUID|PK)$/i;

/** How deep each token is in brackets, and in CASE … END. */
export function depths(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map(({ kind, text }) => {
    const isWord = kind === 'word';
    if ((kind === 'mark' && text === ')') || (isWord && text === 'END' && depth > 0)) {
      depth -= 1;
      return depth + 1;
    }
    if ((kind === 'mark' && text === '(') || (isWord && text === 'CASE')) depth += 1;
    return depth;
  });
}

/** The condition of one statement; undefined if it has none. */
export function conditionOf(statement: readonly Token[]): readonly Token[] | undefined {
  const depth = depths(statement);
  const level = depth[0] ?? 0;
  const at = statement.findIndex(
    ({ kind, text }, index) => kind === 'word' && text === 'WHERE' && depth[index] === level,
  );
  if (at === -1) return undefined;
  const end = statement.findIndex(
    ({ kind, text }, index) =>
      index > at && kind === 'word' && CLAUSE_ENDS.has(text) && depth[index] === level,
  );
  return statement.slice(at + 1, end === -1 ? undefined : end);
}

/** Does the condition hold for every row? `1=1`, `true OR x`, `id = id`, `id IS NOT NULL`. */
export function isAlwaysTrue(condition: readonly Token[], table = ''): boolean {
  return holds(condition, true, 0) || namesAllRows(condition, table);
}

/** `id IN (SELECT id FROM users)` of the table `users` itself. */
function namesAllRows(condition: readonly Token[], table: string): boolean {
  const text = unbracketed(condition).map(spelling).join(' ');
  const found = /^(?:\S+ \. )?(\S+) IN \( SELECT (?:\S+ \. )?(\S+) FROM (?:\S+ \. )?(\S+) \)$/.exec(text);
  return found !== null && found[1] === found[2] && found[3] === table.toUpperCase().replace(/^.*\./, '');
}

/** Only if certain: anything unclear counts as no. */
function holds(tokens: readonly Token[], wanted: boolean, nesting: number): boolean {
  const inner = unbracketed(tokens);
  if (nesting > 20 || inner.length === 0) return false;
  const or = split(inner, 'OR');
  if (or.length > 1) return or[wanted ? 'some' : 'every']((part) => holds(part, wanted, nesting + 1));
  const and = split(inner, 'AND');
  if (and.length > 1) return and[wanted ? 'every' : 'some']((part) => holds(part, wanted, nesting + 1));
  const [first, ...rest] = inner;
  if (first?.kind === 'word' && first.text === 'NOT') return holds(rest, !wanted, nesting + 1);
  return verdictOf(inner) === wanted;
}

/** What is known of a single comparison. */
function verdictOf(atom: readonly Token[]): boolean | undefined {
  const text = atom.map(spelling).join(' ');
  if (/^(?:TRUE|T)$/.test(text) || text === "'t'" || text === "'true'") return true;
  if (/^(?:FALSE|NULL)$/.test(text)) return false;
  if (/^\d[\d.]*$/.test(text)) return Number(text) !== 0;
  if (/^EXISTS \( SELECT [^ ]+ \)$/.test(text)) return true;
  const [, column = '', rest = ''] = /^(?:\S+ \. )?(\S+) (.*)$/.exec(text) ?? [];
  if (
    KEY_COLUMN.test(column) &&
    /^(?:IS NOT NULL|> (?:= )?(?:- )?[01]|! = (?:- )?\d+|< > (?:- )?[01])$/.test(rest)
  )
    return true;
  if (/^I?LIKE '%+'$/.test(rest)) return true;
  return compared(atom);
}

function compared(atom: readonly Token[]): boolean | undefined {
  const at = atom.findIndex(({ kind, text }) => kind === 'mark' && /[=<>!]/.test(text));
  if (at < 1) return undefined;
  const behind = atom[at + 1]?.kind === 'mark' && /[=<>]/.test(atom[at + 1]?.text ?? '') ? at + 2 : at + 1;
  const operator = atom
    .slice(at, behind)
    .map(({ text }) => text)
    .join('');
  const [left, right] = [unbracketed(atom.slice(0, at)), unbracketed(atom.slice(behind))];
  const [a, b] = [left.map(spelling).join(' '), right.map(spelling).join(' ')];
  if (b === '') return undefined;
  if (a === b) return operator === '=' || operator === '==' || operator === '<=' || operator === '>=';
  if (!isConstant(left) || !isConstant(right)) return undefined;
  const [x, y] = [Number(left[0]?.text), Number(right[0]?.text)];
  const isNumber = left[0]?.kind === 'number' && right[0]?.kind === 'number';
  if (operator === '=' || operator === '==') return isNumber && x === y;
  if (operator === '<>' || operator === '!=') return true;
  if (!isNumber) return undefined;
  return { '<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y }[operator];
}

function isConstant(tokens: readonly Token[]): boolean {
  return tokens.length === 1 && (tokens[0]?.kind === 'number' || tokens[0]?.kind === 'string');
}

function spelling({ kind, text }: Token): string {
  return kind === 'string' ? `'${text}'` : kind === 'name' ? text.toUpperCase() : text;
}

/** Without the brackets around all of it, up to a sensible number of them. */
function unbracketed(tokens: readonly Token[]): readonly Token[] {
  let inner = tokens;
  for (let round = 0; round < BRACKETS_MAX && isBracketed(inner); round += 1) inner = inner.slice(1, -1);
  return inner;
}

/** `(a) OR (b)` begins and ends with brackets too. */
function isBracketed(tokens: readonly Token[]): boolean {
  if (tokens[0]?.text !== '(' || tokens[0].kind !== 'mark') return false;
  let depth = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'mark') continue;
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0) return index === tokens.length - 1;
  }
  return false;
}

function split(tokens: readonly Token[], word: string): (readonly Token[])[] {
  const depth = depths(tokens);
  const parts: (readonly Token[])[] = [];
  let from = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'word' || text !== word || depth[index] !== 0) continue;
    parts.push(tokens.slice(from, index));
    from = index + 1;
  }
  return [...parts, tokens.slice(from)];
}
