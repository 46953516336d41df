import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../../../child-process/marked.ts';
import { fingerprint } from '../../../../kernel/fingerprint.ts';

/** Where executions are on this machine. */
export interface Places {
  /** Holds a folder for each run. It is private and on a local disk, since its contents name processes. */
  readonly runs: string;
  /** The folder of the configuration: commands run in it, and relative command paths start from it. */
  readonly folder: string;
  /** The root of the git repository, if there is one. */
  readonly repository?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** Set in the environment of every process of a run, so that all of them can be found again. */
export const RUN_VARIABLE = 'COX_RUN';

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** A run's name in a form that is safe in a path, in a git ref and in a shell word. */
export function runName(run_id: string): string {
  if (PLAIN_NAME.test(run_id)) return run_id;
  const readable = run_id
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 80);
  return `${readable === '' ? 'run' : readable}-${fingerprint(run_id)}`;
}

/**
 * Everything known about a run is in its folder, so that a later process can collect it: `starter` is the
 * process that made the folder; `input.json`, `stdout` and `stderr` are the command's; `process` is its
 * wrapper; `ended` says why we ended it; `exit` how it ended; `workspace.json` and `tree` are its work tree;
 * `delivery.json` is its result.
 */
export class RunFiles {
  readonly name: string;
  readonly folder: string;

  constructor(run_id: string, { runs }: Pick<Places, 'runs'>) {
    this.name = runName(run_id);
    this.folder = join(runs, this.name);
  }

  get mark(): Mark {
    return { variable: RUN_VARIABLE, value: this.name };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string | undefined {
    try {
      return readFileSync(this.path(name), 'utf8');
    } catch {
      return undefined;
    }
  }

  /** A file that is not JSON was not written completely. */
  readJson(name: string): unknown {
    try {
      return JSON.parse(this.read(name) ?? '');
    } catch {
      return undefined;
    }
  }

  /** Written completely or not at all. */
  write(name: string, text: string): void {
    const draft = this.path(`${name}.${process.pid}`);
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, this.path(name));
  }

  /** If several processes try at once, one succeeds; the other ones get false. */
  writeOnce(name: string, text: string): boolean {
    const draft = this.path(`${name}.${process.pid}`);
    try {
      writeFileSync(draft, text, { mode: 0o600 });
      linkSync(draft, this.path(name));
      return true;
    } catch {
      return false;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** How the command ended. A code of null: it was killed with all its processes. */
  exit(): { readonly code: number | null } | undefined {
    const text = this.read('exit');
    // A file cut short by a power failure is no answer.
    if (text === undefined || !text.endsWith('\n')) return undefined;
    return { code: /^\d+\n$/.test(text) ? Number(text) : null };
  }
}
