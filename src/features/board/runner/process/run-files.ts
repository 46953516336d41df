import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../../../child-process/marked.ts';
import { fingerprint } from '../../../../kernel/fingerprint.ts';

/** Where executions are, on this machine. */
export interface Places {
  /** Each run has a folder in it. Private, and on a disk of this machine: what is in it names processes. */
  readonly runs: string;
  /** The folder of the configuration: commands run in it, and those with a path are meant from it. */
  readonly folder: string;
  /** The root of the git repository, where there is one. */
  readonly repository?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** In the environment of every process of a run, so that all of them can be found again. */
export const RUN_VARIABLE = 'COX_RUN';

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** A run's name as it can stand in a path, in the name of a git ref and in a shell's words. */
export function runName(run_id: string): string {
  if (PLAIN_NAME.test(run_id)) return run_id;
  const readable = run_id
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 80);
  return `${readable === '' ? 'run' : readable}-${fingerprint(run_id)}`;
}

/**
 * All that is known of a run is in its folder, so that whoever comes after us can collect it:
 * `starter` who made the folder, `input.json`, `stdout` and `stderr` of the command, `process` its wrapper, `ended` why we ended
 * it, `exit` how it ended, `workspace.json` and `tree` its work tree, `delivery.json` what came of it.
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

  /** What is not JSON was never finished. */
  readJson(name: string): unknown {
    try {
      return JSON.parse(this.read(name) ?? '');
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all. */
  write(name: string, text: string): void {
    const draft = this.path(`${name}.${process.pid}`);
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, this.path(name));
  }

  /** Of any number that try at once, one; the others are told. */
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

  /** How the command ended; a code of null: it was killed with everything around it. */
  exit(): { readonly code: number | null } | undefined {
    const text = this.read('exit');
    // What a machine that lost its power left is no answer.
    if (text === undefined || !text.endsWith('\n')) return undefined;
    return { code: /^\d+\n$/.test(text) ? Number(text) : null };
  }
}
