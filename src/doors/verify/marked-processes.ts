import { readdirSync, readFileSync } from 'node:fs';
import { RUN_MARK } from './environment.ts';

/**
 * Ends every process of a run that still lives, also one that has left its group, by the mark in its environment. Linux only:
 * elsewhere the group has to do.
 */
export function endMarked(mark: string): void {
  if (process.platform !== 'linux') return;
  const wanted = `${RUN_MARK}=${mark}`;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      if (readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(wanted))
        process.kill(Number(name), 'SIGKILL');
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
  }
}
