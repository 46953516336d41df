/** At most this many characters, with a mark where text was cut, and never half of a character. */
export function shorten(text: string, chars_max: number): string {
  return text.length > chars_max ? `${text.slice(0, chars_max - 1).toWellFormed()}…` : text;
}
