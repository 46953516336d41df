import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { taskText } from './verb-stage.ts';

/** Nothing of the user who runs the tests: no identity, no hooks, no signing. */
export const GIT_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: '/nowhere',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

export interface Clone {
  readonly folder: string;
  readonly work: string;
  git(...words: string[]): string;
  put(path: string, text: string): void;
  /** A new task in the inbox, not committed. */
  task(id: string): void;
  /** Everything that is not staged or committed, by git's own letters. */
  status(): string;
}

function cloneAt(folder: string): Clone {
  const env = {
    ...GIT_ENV,
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.org',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.org',
  };
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    folder,
    work: join(folder, 'work'),
    git: (...words) => git(...words).trim(),
    put,
    task: (id) => put(`work/inbox/${id}.yaml`, taskText(id, { status: 'new' })),
    status: () => git('status', '--porcelain', '--untracked-files=all').trimEnd(),
  };
}

/** A bare repository with a work directory for coder on its only branch, and any number of clones of it. */
export function repositories() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-clones-')));
  const remote = join(folder, 'remote.git');
  mkdirSync(remote);
  cloneAt(remote).git('init', '--quiet', '--bare', '--initial-branch=main');
  let count = 0;
  const clone = (...options: string[]): Clone => {
    count += 1;
    const at = join(folder, `clone ${count}`);
    mkdirSync(at);
    const cloned = cloneAt(at);
    cloned.git('clone', '--quiet', ...options, `file://${remote}`, '.');
    return cloned;
  };
  const first = clone();
  first.git('switch', '--quiet', '--create', 'main');
  first.put('work/inbox/.gitkeep', '');
  first.put('work/assigned/coder/.gitkeep', '');
  first.put('src/a.ts', 'a\n');
  first.git('add', '--all');
  first.git('commit', '--quiet', '--message=first');
  first.git('push', '--quiet', '--set-upstream', 'origin', 'main');
  return {
    folder,
    remote: cloneAt(remote),
    first,
    clone,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
