import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const COMMITTED = [
  ...['package.json', 'package-lock.json', 'README.md', 'Makefile', 'Dockerfile', '.env.example'],
  ...['src/index.ts', 'src/dirty.ts', 'src/feature/work.ts', 'src/app.css', 'test/a.test.ts'],
  ...['test/fixtures/bad.sh', 'docs/guide.md', 'docs/install.md', 'docs/secrets-handling.md'],
  ...['old/index.js', 'old/lib/a.js', 'old/lib/b.js', 'scripts/clean.sh', 'scripts/run.sh', 'list.txt'],
  ...['packages/web/package.json', 'packages/web/src/a.ts', 'packages/api/package.json', 'guardrails.yaml'],
  ...['.claude/settings.json', '.codex/hooks.json', '.gemini/settings.json', 'config/app.yml'],
];

/** Committed, and changed since. */
const CHANGED = ['src/dirty.ts', 'src/feature/work.ts', 'test/a.test.ts'];

const NEVER_ADDED = ['notes/plan.md', 'drafts/plan.md', 'drafts/talk.md', 'uploads/photo.jpg', 'folders.txt'];

const IGNORE_RULES = [
  ...['node_modules', 'dist', 'build', 'target', 'coverage', '.nyc_output', '.next', '.turbo', '.cache'],
  ...['.venv', '__pycache__', '.pytest_cache', '.mypy_cache', '.ruff_cache', 'tmp', '*.log', '*.pyc'],
  ...['*.tmp', '*.bak', '*.orig', '.env', '.env.*', '!.env.example', 'secrets', 'data'],
];

/** Ignored, and made again by a build. `data`, `secrets` and `.env` are ignored too, and no build can make them again. */
const IGNORED = [
  ...[
    'node_modules/a/index.js',
    'node_modules/.cache/x',
    'node_modules/.vite/x',
    'dist/app.js',
    'dist/app.js.map',
  ],
  ...['build/out.o', 'target/debug/app', 'coverage/lcov.info', '.nyc_output/x', '.next/cache/x', '.turbo/x'],
  ...[
    '.cache/x',
    '.venv/bin/python',
    '__pycache__/a.pyc',
    '.pytest_cache/x',
    '.mypy_cache/x',
    '.ruff_cache/x',
  ],
  ...[
    'packages/web/node_modules/a.js',
    'packages/web/dist/a.js',
    'packages/web/.turbo/x',
    'packages/api/dist/a.js',
  ],
  ...['logs/app.log', 'npm-debug.log', 'tmp/cache/x', 'src/index.ts.bak', 'a.tmp', 'src/a.orig'],
  ...['data/app.sqlite', '.env', '.env.local', 'secrets/key.txt'],
];

export interface Repository extends Disposable {
  /** The workspace. */
  readonly root: string;
  readonly home: string;
}

/** A workspace as agents find it: committed and clean, changed, never added, and ignored files side by side. */
export function makeRepository(): Repository {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-corpus-')));
  const home = join(folder, 'ann');
  const root = join(home, 'code', 'app');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, env });
  };
  for (const path of COMMITTED) write(path, `${path}\n`);
  write('.gitignore', `${IGNORE_RULES.join('\n')}\n`);
  git('init', '-q', '-b', 'main');
  git('add', '--all');
  git('commit', '-qm', 'start');
  for (const path of CHANGED) write(path, 'work of today\n');
  for (const path of [...NEVER_ADDED, ...IGNORED]) write(path, `${path}\n`);
  return { root, home, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
