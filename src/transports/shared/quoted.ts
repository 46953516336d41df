function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** Another agent's words: short, in quotes, and nothing in them can end a line, move a cursor or turn text around. */
export function quoted(text: unknown, chars_max: number): string {
  const words = String(text ?? '');
  const shown = words.length > chars_max ? `${words.slice(0, chars_max).toWellFormed()}…` : words;
  return JSON.stringify(shown).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

/** One line of ours with a name in it that is not. */
export function oneLine(text: unknown, chars_max: number): string {
  return quoted(text, chars_max).slice(1, -1);
}
