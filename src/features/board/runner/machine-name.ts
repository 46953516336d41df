import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Where a process id means something: two containers may be called alike, and have processes of their own. */
export function machineName(): string {
  return `${hostname()}${processSpace()}`;
}

function processSpace(): string {
  try {
    return `/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
