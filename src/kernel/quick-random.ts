import { closeSync, openSync, readSync } from 'node:fs';
import { type Random, systemRandom } from './ids.ts';

const SOURCE = '/dev/urandom';
const POOL_BYTES = 256;

/**
 * For processes that live for milliseconds: loading node:crypto for a few ids takes 8 ms, reading the
 * system's own generator a tenth of one. Where that file does not exist, node:crypto is used.
 */
export function quickRandom(): Random {
  let pool = new Uint8Array(0);
  let used = 0;
  return {
    bytes(count) {
      if (count > POOL_BYTES) return systemRandom.bytes(count);
      if (used + count > pool.length) {
        const read = readPool();
        if (read === undefined) return systemRandom.bytes(count);
        pool = read;
        used = 0;
      }
      used += count;
      return pool.subarray(used - count, used);
    },
    fraction: systemRandom.fraction,
  };
}

function readPool(): Uint8Array<ArrayBuffer> | undefined {
  let file: number | undefined;
  try {
    file = openSync(SOURCE, 'r');
    const pool = new Uint8Array(POOL_BYTES);
    return readSync(file, pool) === POOL_BYTES ? pool : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
