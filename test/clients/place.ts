import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { kill, workingIn } from './processes.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const programs = join(import.meta.dirname, 'node_modules', '.bin');

const run = promisify(execFile);

/** A new user's machine: a home and a repository, and nothing else of ours. */
export interface Place extends AsyncDisposable {
  readonly home: string;
  readonly repo: string;
  /** All that a client or `cox` is started with. */
  readonly env: Readonly<Record<string, string>>;
  file(path: string): string;
  read(path: string): Buffer;
  /** `cox … --json` as a person in the repository. */
  cox(...words: string[]): Promise<JsonObject>;
  /** The same with more in the environment. */
  coxAs(more: Readonly<Record<string, string>>, ...words: string[]): Promise<JsonObject>;
}

/** The files of the repository with their contents. */
export async function makePlace(files: Readonly<Record<string, string>>): Promise<Place> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-clients-')));
  const [home, repo] = [join(folder, 'home'), join(folder, 'repo')];
  for (const each of [home, repo]) mkdirSync(each);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), text);
  }
  const env = {
    HOME: home,
    PATH: [dirname(process.execPath), programs, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
  };
  const git = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  await run('git', ['init', '-q'], { cwd: repo, env });
  await run('git', ['add', '-A'], { cwd: repo, env });
  await run('git', [...git, 'commit', '-q', '-m', 'start'], { cwd: repo, env });
  const place: Place = {
    home,
    repo,
    env,
    file: (path) => join(repo, path),
    read: (path) => readFileSync(join(repo, path)),
    cox(...words) {
      return place.coxAs({}, ...words);
    },
    async coxAs(more, ...words) {
      const cox = join(root, 'bin', 'cox');
      const answer = run(process.execPath, [cox, ...words, '--json'], {
        cwd: repo,
        env: { ...env, ...more },
      });
      // A refusal is an answer too; its exit code says so besides.
      const { stdout } = await answer.catch((error: { stdout?: string }) => {
        if (!error.stdout) throw error;
        return { stdout: error.stdout };
      });
      return JSON.parse(stdout) as JsonObject;
    },
    async [Symbol.asyncDispose]() {
      try {
        await until(async () => workingIn(folder).length === 0);
      } finally {
        kill(workingIn(folder));
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
  return place;
}
