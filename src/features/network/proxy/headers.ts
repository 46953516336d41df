/** Between two neighbours only (RFC 9110, 7.6.1), and what speaks to the proxy itself. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export type HeaderPair = readonly [name: string, value: string];

export function headerPairs(raw: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return pairs;
}

/** All of one name, whichever way it is written. */
export function valuesOf(pairs: readonly HeaderPair[], wanted: string): string[] {
  return pairs.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}

/** What goes on to the other side: repeated ones stay repeated, and in their order. */
export function endToEnd(pairs: readonly HeaderPair[]): HeaderPair[] {
  const named = valuesOf(pairs, 'connection').flatMap((value) => value.split(','));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())]);
  // A client that calls these hop-by-hop wants the two sides to disagree about where a message ends.
  for (const name of ['content-length', 'host']) dropped.delete(name);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()));
}
