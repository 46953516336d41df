import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Contender } from '../harness.ts';

const RECORD_BYTES = 200;

/** What the disk allows one record at a time: append 200 bytes, then fdatasync. */
export function openFdatasync(dir: string): Contender {
  const file = openSync(join(dir, 'append.log'), 'a');
  const record = Buffer.alloc(RECORD_BYTES, 'x');
  return {
    name: 'append 200 B + fdatasync',
    async measure(durationMs) {
      const start = performance.now();
      let count = 0;
      while (performance.now() - start < durationMs) {
        writeSync(file, record);
        fdatasyncSync(file);
        count++;
      }
      return { count, elapsed_ms: performance.now() - start };
    },
    async close() {
      closeSync(file);
    },
  };
}
