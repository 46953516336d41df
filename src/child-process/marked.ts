import { readdirSync, readFileSync } from 'node:fs';

/** An environment variable whose value is unique to a run, set for every process of the run. */
export interface Mark {
  readonly variable: string;
  readonly value: string;
}

/** Repeated, because a process that is just starting another is seen before its child is. */
const ROUNDS_MAX = 5;

/**
 * Ends every process of a run that is still alive, even one that has left the process group, by the mark in
 * its environment. Linux only: elsewhere ending the group has to do.
 */
export function endMarked({ variable, value }: Mark): void {
  if (process.platform !== 'linux') return;
  const wanted = `${variable}=${value}`;
  for (let round = 0; round < ROUNDS_MAX; round += 1) if (!endThoseWith(wanted)) return;
}

function endThoseWith(wanted: string): boolean {
  let isAny = false;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(wanted)) continue;
      process.kill(Number(name), 'SIGKILL');
      isAny = true;
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
  return isAny;
}
