import type { Token } from './sql-tokens.ts';

export function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}

/** The names in a list of tables, `a.b` as one, without keywords before them. */
export function namesAfter(tokens: readonly Token[], skipped: number): string[] {
  const names: string[] = [];
  let name = '';
  for (const { kind, text } of tokens.slice(skipped)) {
    const isName = kind === 'name' || kind === 'word';
    if (kind === 'word' && /^(?:IF|NOT|EXISTS|ONLY|CONCURRENTLY|IGNORE|LOW_PRIORITY|QUICK|TABLE)$/.test(text))
      continue;
    if (isName && (name === '' || name.endsWith('.'))) name += text.toUpperCase();
    else if (kind === 'mark' && text === '.') name += '.';
    else if (kind === 'mark' && text === ',') {
      names.push(name);
      name = '';
    } else break;
  }
  return name === '' ? names : [...names, name];
}
