/** Two starts and two odd factors: the halves of the fingerprint are independent. */
const HALVES = [
  [0x9e3779b9, 0x01000193],
  [0x7f4a7c15, 0x2c1b3c6d],
] as const;

/**
 * Twelve hexadecimal digits that tell texts apart. Not for secrets: loading a real hash takes a hook longer
 * than its decision.
 */
export function fingerprint(text: string): string {
  return HALVES.map(([start, factor]) =>
    mixed(text, start, factor).toString(16).padStart(8, '0').slice(-6),
  ).join('');
}

function mixed(text: string, start: number, factor: number): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), factor);
    // A product only carries upwards; without this the low digits would not depend on the high bits.
    hash ^= hash >>> 15;
  }
  return (Math.imul(hash, factor) ^ (hash >>> 16)) >>> 0;
}
