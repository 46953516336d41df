/** At most so many characters, with a sign where something is missing, and no half of a character. */
export function shorten(text: string, chars_max: number): string {
  return text.length > chars_max ? `${text.slice(0, chars_max - 1).toWellFormed()}…` : text;
}
