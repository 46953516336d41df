import type { Token } from './sql-tokens.ts';

/** Replaces a value that is only known at run time: any name would do there. */
const UNKNOWN = ' unknown_name ';
const ENDS = new Set(['USING', 'INTO', 'LOOP', 'AS']);
const TEXT_TOKENS_MAX = 200;

export interface Assembled {
  /** What would be run, as far as it is written here. */
  readonly texts: readonly string[];
  /** The variables that contain it instead. */
  readonly names: readonly string[];
  /** It is an expression, not just a name. */
  readonly computed: boolean;
}

/** The text that `EXECUTE 'DROP TABLE ' || name` would run, with a placeholder for unknown parts. */
export function assembled(tokens: readonly Token[]): Assembled {
  let text = '';
  let computed = false;
  const names: string[] = [];
  let hasText = false;
  for (const { kind, text: part } of tokens.slice(0, TEXT_TOKENS_MAX)) {
    if (kind === 'word' && ENDS.has(part)) break;
    if (kind === 'string') {
      hasText = true;
      // `format('DROP TABLE %I', …)`
      text += part.replaceAll(/%(?:\d+\$)?-?\d*[ILs]/g, UNKNOWN);
    } else if (kind === 'mark') computed ||= /[(|+]/.test(part);
    else if (
      kind === 'name' ||
      (kind === 'word' && !/^(?:N|E|IMMEDIATE|FORMAT|CONCAT|SP_EXECUTESQL)$/.test(part))
    ) {
      names.push(part.toUpperCase());
      text += UNKNOWN;
    }
  }
  return { texts: hasText ? [text] : [], names, computed };
}

/** Texts that are assigned to variables: `q := '…'`, `SET @q = '…'`, `DECLARE q text DEFAULT '…'`. */
export function assignments(tokens: readonly Token[]): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, string[]>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'mark' || token.text !== '=') {
      if (!(token.kind === 'word' && token.text === 'DEFAULT')) continue;
    }
    const rest = tokens.slice(index + 1, index + TEXT_TOKENS_MAX);
    const end = rest.findIndex(({ kind, text }) => kind === 'mark' && text === ';');
    const { texts } = assembled(end === -1 ? rest : rest.slice(0, end));
    const name = nameBefore(tokens, index);
    if (name !== undefined && texts.length > 0) given.set(name, [...(given.get(name) ?? []), ...texts]);
  }
  return given;
}

/** `q text :=` declares q; `q :=` assigns another value to it. */
function nameBefore(tokens: readonly Token[], index: number): string | undefined {
  let at = index - 1;
  if (tokens[at]?.text === ':') at -= 1;
  // `@q nvarchar(99) =`
  if (tokens[at]?.text === ')') while (at > index - 8 && tokens[at + 1]?.text !== '(') at -= 1;
  let name: string | undefined;
  for (let words = 0; words < 3; words += 1, at -= 1) {
    const token = tokens[at];
    if (token?.kind !== 'word' && token?.kind !== 'name') break;
    if (/^(?:DECLARE|BEGIN|SET|THEN|ELSE|LOOP)$/.test(token.text)) break;
    name = token.text.toUpperCase();
  }
  return name;
}
