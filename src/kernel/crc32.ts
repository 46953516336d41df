const POLYNOMIAL = 0xedb88320;

let table: Int32Array | undefined;

/**
 * Each entry is computed from two others: a short-lived process builds the table for a few rows of the log.
 */
function makeTable(): Int32Array {
  const made = new Int32Array(256);
  let crc = 1;
  for (let bit = 128; bit > 0; bit >>= 1) {
    crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    for (let byte = 0; byte < 256; byte += 2 * bit) made[bit + byte] = crc ^ (made[byte] ?? 0);
  }
  return made;
}

/** The same as node:zlib, for the bundled hook: its few rows are done before that module would be loaded. */
export function crc32(text: string, before = 0): number {
  table ??= makeTable();
  const bytes = Buffer.from(text, 'utf8');
  let crc = before ^ -1;
  for (let index = 0; index < bytes.length; index += 1)
    crc = (table[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}
