import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';

export interface Running {
  readonly pid: number;
  readonly command: string;
}

/** A process and all that came of it. */
export function family(pid: number): Running[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const found = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
      return found === null
        ? []
        : [{ pid: Number(found[1]), parent: Number(found[2]), command: `${found[3]}` }];
    });
  const known = new Set([pid]);
  // A child may be listed before its parent.
  for (let size = 0; size !== known.size; ) {
    size = known.size;
    for (const row of rows) if (known.has(row.parent)) known.add(row.pid);
  }
  return rows.filter((row) => known.has(row.pid));
}

export function kill(running: readonly Running[]): void {
  for (const { pid } of running)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
}

/** Who still works in a folder. Only Linux tells. */
export function workingIn(folder: string): Running[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const cwd = readlinkSync(`/proc/${name}/cwd`);
      return cwd === folder || cwd.startsWith(folder + sep) ? [{ pid: Number(name), command: cwd }] : [];
    } catch {
      return []; // It ended meanwhile, or is not ours to look at.
    }
  });
}
