const NAMED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

/**
 * `\n`, `\x72`, `\162`, `\u0072` as `printf` and `echo -e` read them. A zero byte ends names in lists: it
 * becomes a line break.
 */
export function escapesRead(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,4})|(.))/gs,
    (whole, hex?: string, short?: string, long?: string, octal?: string, named?: string) => {
      if (named !== undefined) return NAMED[named] ?? whole;
      const code =
        octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
      if (code === 0) return '\n';
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
