/**
 * Patterns over keys: `*` within a name, `?` one character of it, `**` any number of folders. Brackets and
 * braces are ordinary characters, because frameworks put them into file names (`app/[slug]/page.tsx`). A lock
 * request with `{a,b}` is refused nevertheless, because an agent that writes it means both alternatives.
 */
export function hasWildcard(text: string): boolean {
  return text.includes('*') || text.includes('?');
}

export function hasAlternatives(text: string): boolean {
  return text.includes('{') && /\{[^{},]*,[^{}]*\}/.test(text);
}

/**
 * Greedy, with backtracking only to the last star, for names and for the characters of a name: never
 * exponential.
 */
function wildMatch<P, T>(
  pattern: readonly P[],
  text: readonly T[],
  isStar: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < text.length; ) {
    const part = pattern[at];
    if (part !== undefined && isStar(part)) {
      star = at;
      at += 1;
      resume = index;
    } else if (part !== undefined && fits(part, text[index] as T)) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  while (at < pattern.length && isStar(pattern[at] as P)) at += 1;
  return at === pattern.length;
}

/** Does a name match, as a whole? */
export function nameMatches(pattern: string, name: string): boolean {
  if (!hasWildcard(pattern)) return pattern === name;
  return wildMatch(
    [...pattern],
    [...name],
    (character) => character === '*',
    (wanted, character) => wanted === '?' || wanted === character,
  );
}

/** Does the key of a file match? Both are normalised; a leading `./` only keeps a name from being misread. */
export function globMatches(pattern: string, key: string): boolean {
  return wildMatch(
    bare(pattern).split('/'),
    bare(key).split('/'),
    (name) => name === '**',
    (wanted, name) => nameMatches(wanted, name),
  );
}

function bare(text: string): string {
  return text.startsWith('./') ? text.slice(2) : text;
}
