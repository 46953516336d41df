/** Words of others in a Markdown file: none of them ends a cell or a line, begins a link or is read as HTML. */
export function markdownText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
    .replaceAll(/[\\`*[\]<>|&!#~]/g, (character) => `\\${character}`);
}
