import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type GitCall, git, namesIn } from '../../child-process/git.ts';
import { type Options, parseOptions } from '../../command-analysis/shell/program-options.ts';
import type { Sweep } from '../../command-analysis/shell/shell-findings.ts';
import { literal } from '../../command-analysis/shell/word.ts';
import { quickClock } from '../../kernel/clock.ts';

/** No program that a repository may name is run, and no lock is taken that a git of the agent's would wait for. */
const PLAIN = ['-c', 'core.fsmonitor=false', '--no-optional-locks', '--literal-pathspecs'] as const;
const NAMES = ['--name-only', '-z', '--no-renames', '--no-relative'] as const;
/** For all questions about one command line in one tree. */
const TIME_MS_MAX = 2500;

export interface Foreseen {
  readonly sweep: Sweep;
  /** Absolute paths. */
  readonly files: readonly string[];
}

interface Asked {
  readonly options: Options;
  /** Where git runs, and the file with its input; both absolute. */
  readonly folder: string;
  readonly reads: string | undefined;
  /** The words of the git command that prints its input there. */
  readonly printer: readonly string[] | undefined;
}

type Verb = (tree: ForeseenTree, asked: Asked) => Promise<Iterable<string> | undefined>;

/**
 * Which files of a work tree git's commands would change: git itself is asked, before they run. `cwd`: where the command line starts.
 * What git can't tell is left out, and so is what is not a commit yet: of a pull, what was fetched last counts.
 */
export async function foreseen(
  sweeps: readonly Sweep[],
  { root, cwd, env }: { readonly root: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Foreseen[]> {
  const tree = new ForeseenTree(root, env);
  const found: Foreseen[] = [];
  for (const sweep of sweeps) {
    const { command, words, folder, reads } = sweep;
    const verb = Object.hasOwn(VERBS, command) ? VERBS[command] : undefined;
    if (verb === undefined || words === undefined) continue;
    const options = parseOptions(words.map(literal), { takes: TAKES[command] ?? TAKES_MERGE });
    if (options.has(...UNDER_WAY)) continue;
    const asked = {
      options,
      folder: resolve(cwd, folder),
      reads: reads === undefined ? undefined : resolve(cwd, reads),
      printer: sweep.printer,
    };
    const names = await verb(tree, asked).catch(() => undefined);
    if (names !== undefined)
      found.push({ sweep, files: [...new Set(names)].map((name) => join(root, name)) });
  }
  return found;
}

/** To end what has been begun must stay possible. */
const UNDER_WAY = ['--abort', '--continue', '--skip', '--quit', '--edit-todo'] as const;

/** One work tree, as the commands of a line leave it one after the other. */
class ForeseenTree {
  readonly root: string;
  /** What is checked out by now; `branch` as far as it has a name. */
  head = 'HEAD';
  branch = 'HEAD';
  /** A stash of this very line has no commit yet. What it took was looked at when it was taken. */
  isStashed = false;
  readonly #env: NodeJS.ProcessEnv;
  readonly #until_ms: number = quickClock.elapsed_ms() + TIME_MS_MAX;

  constructor(root: string, env: NodeJS.ProcessEnv) {
    this.root = root;
    this.#env = env;
  }

  async ask(words: readonly string[], call: Partial<GitCall> = {}): Promise<string> {
    const time_ms_max = Math.max(1, this.#until_ms - quickClock.elapsed_ms());
    return await git([...PLAIN, ...words], { cwd: this.root, env: this.#env, time_ms_max, ...call });
  }

  async commit(name: string): Promise<string> {
    const now = name === '-' ? '@{-1}' : name.replace(/^(?:HEAD|@)(?=$|[~^])/, this.head);
    return (
      await this.ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${now}^{commit}`])
    ).trim();
  }

  async upstream(): Promise<string> {
    return await this.commit(`${this.branch}@{upstream}`);
  }

  /** In which files two commits differ. */
  async between(from: string, to: string): Promise<string[]> {
    return namesIn(await this.ask(['diff-tree', '-r', ...NAMES, from, to, '--']));
  }

  /** What these commits have changed, each compared with its first parent. */
  async changedIn(revisions: readonly string[], ...how: readonly string[]): Promise<string[]> {
    if (revisions.some((each) => each.startsWith('-'))) throw new Error('an option is no revision');
    const words = [
      'log',
      ...how,
      '--format=',
      '--no-ext-diff',
      '--no-show-signature',
      '--diff-merges=first-parent',
    ];
    return namesIn(await this.ask([...words, ...NAMES, ...revisions, '--']));
  }

  async isSet(...keys: readonly string[]): Promise<boolean> {
    for (const key of keys) {
      const value = (await this.ask(['config', '--get', key], { fine: [0, 1] })).trim();
      if (value !== '' && !/^(?:false|no|off|0)$/i.test(value)) return true;
    }
    return false;
  }

  /** What is put aside and back again. */
  async uncommitted({ has }: Options, ...keys: readonly string[]): Promise<string[]> {
    if (has('--no-autostash') || !(has('--autostash') || (await this.isSet(...keys)))) return [];
    return namesIn(await this.ask(['diff', '--no-ext-diff', ...NAMES, 'HEAD', '--']));
  }

  /** What a merge brings in: what the other side has changed, unless it is the same here. */
  async merged(other: string): Promise<string[]> {
    const differing = await this.between(this.head, other);
    const bases = (await this.ask(['merge-base', '--all', this.head, other], { fine: [0, 1] })).trim();
    if (!/^\w+$/.test(bases)) return differing;
    const theirs = new Set(await this.between(bases, other));
    return differing.filter((name) => theirs.has(name));
  }

  /** The new base is checked out, and the commits are made again on it. */
  async rebased(onto: string, own: readonly string[]): Promise<string[]> {
    return [...(await this.between(this.head, onto)), ...(await this.changedIn(own))];
  }
}

const checkout: Verb = async (tree, { options, folder }) => {
  const { has, operands, values } = options;
  const [name = 'HEAD'] = operands.map(({ text }) => text);
  // With `switch` an orphan starts empty.
  if (operands.length === 0 && has('--orphan')) return namesIn(await tree.ask(['ls-files', '-z']));
  const to = await tree.commit(name).catch(() => onlyRemote(tree, name));
  if (to === undefined)
    return namesIn(await tree.ask(['ls-files', '-z', '--full-name', '--', name], { cwd: folder }));
  const files = await tree.between(tree.head, to);
  const made = values('-b', '-B', '-c', '-C', '--create', '--force-create', '--orphan').at(-1)?.text;
  tree.head = to;
  tree.branch = made ?? name;
  return files;
};

/** A name that only one remote has becomes a branch. */
async function onlyRemote(tree: ForeseenTree, name: string): Promise<string | undefined> {
  const text = await tree.ask(['for-each-ref', '--format=%(objectname)', `refs/remotes/*/${name}`]);
  const [commit, ...more] = text.split('\n').filter(Boolean);
  return more.length === 0 ? commit : undefined;
}

const reset: Verb = async (tree, { options: { operands } }) => {
  const to = await tree.commit(operands[0]?.text ?? 'HEAD');
  const files = await tree.between(tree.head, to);
  tree.head = to;
  return files;
};

const merge: Verb = async (tree, { options }) => {
  const named = options.operands.map(({ text }) => tree.commit(text));
  const others = named.length > 0 ? await Promise.all(named) : [await tree.upstream()];
  const files = await Promise.all(others.map((other) => tree.merged(other)));
  return [...files.flat(), ...(await tree.uncommitted(options, 'merge.autostash'))];
};

const pull: Verb = async (tree, { options }) => {
  const [remote, ...names] = options.operands.map(({ text }) => text.replace(/^\+/, '').replace(/:.*$/s, ''));
  const from = names.map((name) => tree.commit(remote === '.' ? name : `${remote}/${name}`));
  const others = from.length > 0 ? await Promise.all(from) : [await tree.upstream()];
  const [other = ''] = others;
  const told = options.values('--rebase').at(-1)?.text;
  const rebases =
    told !== 'false' &&
    !options.has('--no-rebase') &&
    (options.has('-r', '--rebase') || (await tree.isSet('pull.rebase')));
  const uncommitted = await tree.uncommitted(options, rebases ? 'rebase.autostash' : 'merge.autostash');
  if (rebases) return [...(await tree.rebased(other, [`${other}..${tree.head}`])), ...uncommitted];
  const files = await Promise.all(others.map((each) => tree.merged(each)));
  return [...files.flat(), ...uncommitted];
};

const rebase: Verb = async (tree, { options }) => {
  const { operands, has, values } = options;
  const [first, second] = has('--root') ? [undefined, operands[0]] : operands;
  const branch = await tree.commit(second?.text ?? 'HEAD');
  const upstream = has('--root')
    ? undefined
    : first === undefined
      ? await tree.upstream()
      : await tree.commit(first.text);
  const [onto] = values('--onto');
  let base = upstream ?? branch;
  if (onto !== undefined) base = await tree.commit(onto.text);
  else if (has('--keep-base')) base = (await tree.ask(['merge-base', base, branch])).trim();
  const own = upstream === undefined ? branch : `${upstream}..${branch}`;
  return [...(await tree.rebased(base, [own])), ...(await tree.uncommitted(options, 'rebase.autostash'))];
};

/** Picks and reverts: a range is walked, a commit stands for itself. */
const pick: Verb = async (tree, { options: { operands } }) => {
  if (operands.length === 0) return undefined;
  return await tree.changedIn(
    operands.map(({ text }) => (text === '-' ? '@{-1}' : text)),
    '--no-walk',
  );
};

const unstash: Verb = async (tree, { options: { operands } }) => {
  if (tree.isStashed) return undefined;
  const isBranch = operands[0]?.text === 'branch';
  const named = operands[isBranch ? 2 : 1]?.text ?? '0';
  const stash = await tree.commit(/^\d+$/.test(named) ? `stash@{${named}}` : named);
  const untracked = await tree
    .ask(['ls-tree', '-r', '-z', '--name-only', '--full-tree', `${stash}^3`])
    .catch(() => '');
  const back = [...(await tree.between(`${stash}^1`, stash)), ...namesIn(untracked)];
  return isBranch ? [...back, ...(await tree.between(tree.head, `${stash}^1`))] : back;
};

const readTree: Verb = async (tree, { options: { operands } }) => {
  const files = operands.map(async ({ text }) => await tree.between(tree.head, await tree.commit(text)));
  return (await Promise.all(files)).flat();
};

/** A patch names its files; read the other way round, also those that it renames. `cwd`: what its names are seen from. */
async function patched(tree: ForeseenTree, asked: Asked, cwd: string): Promise<string[] | undefined> {
  const { options, folder, reads } = asked;
  const files = options.operands.filter(({ text }) => text !== '-').map(({ text }) => resolve(folder, text));
  if (files.length === 0 && reads !== undefined) files.push(reads);
  const input = files.length === 0 ? await printed(tree, asked) : '';
  if (input === undefined || !files.every((file) => existsSync(file))) return undefined;
  const own = ['-p', '-C', '--directory', '--include', '--exclude'].flatMap((name) =>
    options.values(name).map(({ text }) => (name.length === 2 ? `${name}${text}` : `${name}=${text}`)),
  );
  const listed = async (...way: readonly string[]) =>
    await tree.ask(['apply', '--numstat', '-z', ...way, ...own, '--', ...files], { cwd, input });
  const texts = await Promise.all([listed(), listed('-R')]);
  return namesIn(texts.join('')).map((line) => line.replace(/^[\d-]+\t[\d-]+\t/, ''));
}

/** Options with which these commands write a file or run a program; git takes a beginning for the whole. */
const PRINTS_OTHERWISE = /^(?:-[oO]|--(?:o(?!neline$)|ex|te))/;

/** The patch that another git command would print, if it is one of those that only print. */
async function printed(tree: ForeseenTree, { printer, folder }: Asked): Promise<string | undefined> {
  const words = printer?.filter((word) => word !== '--no-pager') ?? [];
  const verb = words.slice(0, words[0] === 'stash' ? 2 : 1);
  const rest = words.slice(verb.length);
  const isPatch = /^(?:diff|show|log|diff-tree|stash show|format-patch)$/.test(verb.join(' '));
  if (!isPatch || rest.some((word) => PRINTS_OTHERWISE.test(word))) return undefined;
  if (verb[0] === 'format-patch' && !rest.includes('--stdout')) return undefined;
  return await tree.ask([...verb, '--no-ext-diff', '--no-textconv', ...rest], { cwd: folder });
}

/** Which files come and go with the folders that are wanted. */
const sparse: Verb = async (tree, { options }) => {
  const [verb = '', ...given] = options.operands.map(({ text }) => text);
  if (!/^(?:set|add|init|disable)$/.test(verb)) return undefined;
  const tracked = namesIn(await tree.ask(['ls-files', '-z', '-t']));
  const cone = await tree.ask(['config', '--get', 'core.sparseCheckoutCone'], { fine: [0, 1] });
  const byFolders = verb === 'disable' || !(options.has('--no-cone', '--stdin') || /false/i.test(cone));
  const before = /^(?:add|init)$/.test(verb)
    ? await tree.ask(['sparse-checkout', 'list']).catch(() => '')
    : '';
  const folders = [...given, ...before.split('\n').filter(Boolean)].map((each) =>
    each.replace(/^\/|\/$/g, ''),
  );
  const isWanted = (name: string) => verb === 'disable' || folders.some((each) => isInCone(name, each));
  return tracked
    .map((line) => ({ isThere: !line.startsWith('S '), name: line.slice(2) }))
    .filter(({ isThere, name }) => !byFolders || isThere !== isWanted(name))
    .map(({ name }) => name);
};

/** What is in the folder, and the files beside it and beside each folder above. */
function isInCone(name: string, folder: string): boolean {
  const own = name.slice(0, Math.max(0, name.lastIndexOf('/')));
  return own === '' || `${own}/`.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${own}/`);
}

/** By the names that `Sweep` gives them. */
const VERBS: Readonly<Record<string, Verb>> = {
  'git checkout': checkout,
  'git checkout --force': checkout,
  'git switch': checkout,
  'git switch --force': checkout,
  'git reset --hard': reset,
  'git reset --merge': reset,
  'git reset --keep': reset,
  'git merge': merge,
  'git pull': pull,
  'git rebase': rebase,
  'git cherry-pick': pick,
  'git revert': pick,
  'git stash': async (tree) => {
    tree.isStashed = true;
    return undefined;
  },
  'git stash pop': unstash,
  'git stash apply': unstash,
  'git stash branch': unstash,
  'git read-tree -u': readTree,
  'git sparse-checkout': sparse,
  'git apply': (tree, asked) => patched(tree, asked, asked.folder),
  'git am': (tree, asked) => patched(tree, asked, tree.root),
};

const TAKES_MERGE =
  '-s -X -m -F -o -j --strategy --strategy-option --file --into-name --cleanup --depth --deepen --upload-pack';
const TAKES_CHECKOUT = '-b -B -c -C --create --force-create --orphan --conflict';
const TAKES_PICK = '-m -X --mainline --strategy --strategy-option --cleanup';
const TAKES_PATCH = '-p -C --directory --include --exclude --patch-format --whitespace';

/** Options that take the next word, where they are not those of a merge. */
const TAKES: Readonly<Record<string, string>> = {
  'git checkout': TAKES_CHECKOUT,
  'git checkout --force': TAKES_CHECKOUT,
  'git switch': TAKES_CHECKOUT,
  'git switch --force': TAKES_CHECKOUT,
  'git reset --hard': '',
  'git reset --merge': '',
  'git reset --keep': '',
  'git rebase': '-s -X -x -C --onto --exec --strategy --strategy-option --whitespace',
  'git cherry-pick': TAKES_PICK,
  'git revert': TAKES_PICK,
  'git stash pop': '',
  'git stash apply': '',
  'git stash branch': '',
  'git read-tree -u': '',
  'git sparse-checkout': '',
  'git apply': TAKES_PATCH,
  'git am': TAKES_PATCH,
};
