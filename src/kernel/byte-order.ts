/** From this code unit on, UTF-16 order and UTF-8 order differ. */
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** Compares by UTF-8 bytes, as the stores do. JavaScript compares by UTF-16, which differs beyond U+FFFF. */
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

/** A surrogate is part of a character that sorts after all characters with a single code unit. */
function rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}
