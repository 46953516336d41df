/** From here on a code unit of UTF-16 does not say which of two texts comes first in UTF-8. */
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** The order of UTF-8 bytes, which the stores use; UTF-16's, which JavaScript uses, differs beyond U+FFFF. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** A surrogate stands for a character beyond all that have a code unit of their own. */
function rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}
