import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The scope in which a process id is valid. Two containers may have the same host name but separate processes. */
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
