/**
 * Escapes untrusted text for a Markdown file: it can't end a cell or a line, begin a link or be read as HTML.
 */
export function markdownText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
    .replaceAll(/[\\`*[\]<>|&!#~]/g, (character) => `\\${character}`);
}
