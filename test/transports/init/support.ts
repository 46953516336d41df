import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { main } from '../../../src/transports/cli/main.ts';
import type { Terminal } from '../../../src/transports/cli/output/terminal.ts';

export interface Bench extends Disposable {
  readonly home: string;
  readonly repo: string;
  readonly env: Record<string, string>;
  /** Runs `cox` in the repository. */
  cox(
    words: readonly string[],
    options?: { cwd?: string; env?: Record<string, string>; answers?: Answer[] },
  ): Promise<Ran>;
  /** A file in the repository or, with `~/`, in the home; its folders come with it. */
  write(path: string, content: string, mode?: number): string;
  read(path: string): string;
  at(path: string): string;
  /** Everything in both folders: kind, mode, content. */
  picture(): Record<string, string>;
}

/** What a person types, or does first: the question stands between the plan and the writing. */
export type Answer = string | (() => string);

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A home and a repository of their own; the three clients are on the PATH, as scripts that know their version. */
export function bench(options: { git?: boolean; clients?: readonly string[] } = {}): Bench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-init-')));
  const [home, repo, bin] = ['home', 'repo', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [home, repo, bin]) mkdirSync(each);
  if (options.git !== false) plainGit(repo);
  for (const name of options.clients ?? ['claude', 'codex', 'gemini']) {
    writeFileSync(join(bin, name), `#!/bin/sh\n[ "$1" = --version ] && echo "${name} 1.2.3"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  const at = (path: string) => (path.startsWith('~/') ? join(home, path.slice(2)) : join(repo, path));
  return {
    home,
    repo,
    env,
    at,
    cox: (words, { cwd = repo, env: more = {}, answers } = {}) =>
      run(words, { ...env, ...more }, cwd, answers),
    write(path, content, mode) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      if (mode !== undefined) chmodSync(at(path), mode);
      return at(path);
    },
    read: (path) => readFileSync(at(path), 'utf8'),
    picture: () => ({ ...pictureOf(home, folder), ...pictureOf(repo, folder) }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What git itself makes, as far as it is looked at here. */
function plainGit(repo: string): void {
  for (const path of ['.git/objects', '.git/refs', '.git/info'])
    mkdirSync(join(repo, path), { recursive: true });
  writeFileSync(join(repo, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(repo, '.git/config'), '[core]\n\tbare = false\n');
  writeFileSync(join(repo, '.git/info/exclude'), '# lines of git\n*.tmp');
}

async function run(
  words: readonly string[],
  env: Record<string, string>,
  cwd: string,
  answers?: Answer[],
): Promise<Ran> {
  const written = { out: '', err: '' };
  const out = async (text: string) => {
    written.out += text;
  };
  const err = async (text: string) => {
    written.err += text;
  };
  const ask = async (question: string) => {
    written.out += question;
    const answer = answers?.shift();
    return typeof answer === 'function' ? answer() : answer;
  };
  const terminal: Terminal = { env, cwd, columns: 120, out, err, ...(answers === undefined ? {} : { ask }) };
  const code = await main([...words], terminal);
  return { code, ...written };
}

function pictureOf(folder: string, base: string): Record<string, string> {
  const picture: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const mode = (lstatSync(path).mode & 0o7777).toString(8);
    const content = entry.isSymbolicLink()
      ? `→ ${readlinkSync(path)}`
      : entry.isFile()
        ? readFileSync(path, 'latin1')
        : '';
    picture[relative(base, path)] = `${mode} ${content}`;
    if (entry.isDirectory()) Object.assign(picture, pictureOf(path, base));
  }
  return picture;
}

/**
 * A `codex` that answers like the real one's own server: the hooks of the main checkout, in every folder that has a `.codex`,
 * with this trust; none: it reads no folder.
 */
export function codexThatSays(place: Bench, trust: 'trusted' | 'untrusted' | undefined): void {
  const script = `#!${process.execPath}
if (process.argv[2] === '--version') { console.log('codex 1.2.3'); process.exit(); }
const { readFileSync, existsSync, writeFileSync } = process.getBuiltinModule('node:fs');
writeFileSync(process.env.CODEX_HOME + '/state.sqlite', 'what the real one leaves in its home');
const known = () => Object.values(JSON.parse(readFileSync('${place.at('.codex/hooks.json')}')).hooks).flat()
  .flatMap((group) => group.hooks)
  .map(({ command }) => ({ command, enabled: true, trustStatus: '${trust}' }));
const hooks = (cwd) => ${trust === undefined} || !existsSync(cwd + '/.codex') ? [] : known();
process.getBuiltinModule('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = method === 'hooks/list' ? { data: params.cwds.map((cwd) => ({ cwd, hooks: hooks(cwd) })) } : {};
  if (id !== undefined) console.log(JSON.stringify({ id, result }));
});
`;
  const path = join(place.home, '..', 'bin', 'codex');
  writeFileSync(path, script);
  chmodSync(path, 0o755);
}

/** Real git, with no user's settings. */
export function git(place: Bench, cwd: string, ...words: string[]): string {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  const env = { ...place.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...who, ...words], { cwd, env, encoding: 'utf8', stdio: 'pipe' });
}
