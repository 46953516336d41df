import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';

/** One that bin/cox does not run on: there it starts the pinned one. */
export function oldNode(): string | undefined {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return found.find((file) => {
    const major = majorOf(file);
    return major >= 18 && major < 24;
  });
}

function majorOf(file: string): number {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return Number.parseInt(execFileSync(file, ['--version'], { encoding: 'utf8', stdio }).slice(1), 10);
  } catch {
    return Number.NaN;
  }
}

export function needsOldNode(node: string | undefined): { skip: string | false } {
  return { skip: node === undefined ? 'no Node on the PATH is old enough to need the launcher' : false };
}
