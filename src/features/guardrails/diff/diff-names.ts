const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  v: '\v',
  f: '\f',
};

/**
 * A name as a diff writes it: in quotes with the bytes of unusual characters as numbers, or plain and up to a
 * tab.
 */
export function unquotedName(name: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(name)?.[1];
  if (quoted === undefined) return name.replace(/\t.*$/, '').trimEnd();
  const bytes: Buffer[] = [];
  for (const match of quoted.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    const [whole, octal, escaped] = match;
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8) & 0xff]));
    else bytes.push(Buffer.from(escaped === undefined ? whole : (ESCAPES[escaped] ?? escaped)));
  }
  return Buffer.concat(bytes).toString();
}
