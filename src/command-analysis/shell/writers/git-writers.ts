import { GIT_STAYS } from '../../git-options.ts';
import { GIT_CONFIG_READS, GIT_CONFIG_TAKES } from '../git-names.ts';
import { afterOptions, type Options, parseOptions } from '../program-options.ts';
import type { SimpleCommand } from '../shell-command.ts';
import type { ShellFindings, Writer } from '../shell-findings.ts';
import {
  baseName,
  hasEnding,
  isAbsolute,
  isKnown,
  literal,
  mapWord,
  shortFolder,
  textOf,
  unknownWord,
  type Word,
  within,
} from '../word.ts';
import { fileWriters } from './file-writers.ts';
import { patched } from './text-writers.ts';

/** One git command with its options read, and run where `-C` says. */
interface Git {
  readonly command: SimpleCommand;
  /** The same in the work tree that it is about. */
  readonly tree: SimpleCommand;
  readonly found: ShellFindings;
  readonly options: Options;
  /** The file with its input, as seen from where the command line starts, or the git command that prints it. */
  readonly input: { readonly reads?: Word | undefined; readonly printer?: readonly Word[] | undefined };
}

const GLOBAL = '-C -c --git-dir --work-tree --namespace --exec-path --config-env';
const TAKES =
  '-m -b -B -c -C -e -j -s -X -o --branch --depth --jobs --origin --reference --source --message --onto --exec --strategy --pathspec-from-file --orphan --conflict --directory --exclude --output';

/** Instead of those: a letter may mean something else, as `-m` does for a checkout. */
const OWN_TAKES: Readonly<Record<string, string>> = {
  apply: `${TAKES} -p`,
  'merge-file': `${TAKES} -L`,
  checkout: '-b -B --orphan --conflict --pathspec-from-file',
  switch: '-c -C --create --force-create --orphan --conflict',
  'read-tree': '',
};

/** `.`, `:/` and the like: all of the work tree, or of the folder that was changed into. */
function isEverything({ text }: Word): boolean {
  return /^(?:\.|\.\/|:\/|:\/\.|\*|:|\.\.(?:\/\.\.)*\/?)$/.test(text);
}

/** A folder below the one where the command line starts. */
function isBelow(folder: Word): boolean {
  return isKnown(folder) && !isAbsolute(folder.text) && !/^(?:\.\.|$)/.test(folder.text);
}

/** `source`: where the files come from, if not from the index. */
function paths(git: Git, words: readonly Word[], name: string, source?: Word): void {
  const { command, tree, found } = git;
  const here = isBelow(command.folder);
  for (const word of words) {
    if (!isEverything(word)) put(git, word);
    else if (isOther(source)) writeAll(git, word);
    else if (here && /^\.\/?$/.test(word.text)) found.tree(command, word);
    else found.everywhere(tree, `git ${name} .`);
  }
}

/** From the index or HEAD only uncommitted changes are lost. Another commit is written over what is committed as well. */
function isOther(source: Word | undefined): boolean {
  return source !== undefined && !(isKnown(source) && /^(?:HEAD|@)$/.test(source.text));
}

function writeAll({ tree, found }: Git, { text }: Word): void {
  const fromTop = text.startsWith(':');
  // The root of the work tree is assumed to be where the command line starts.
  const at = fromTop && isBelow(tree.folder) ? { ...tree, folder: literal('') } : tree;
  found.tree(at, literal(fromTop || text === '*' ? '.' : text));
}

function put({ command, found }: Git, word: Word): void {
  if (hasEnding(word)) found.file(command, pathspec(word));
  else found.tree(command, pathspec(word));
}

/** Git reads a quoted star itself, and lets it match slashes. */
function pathspec(word: Word): Word {
  if (!isKnown(word)) return word;
  const bare = mapWord(word, (text) => text.replace(/^:\(?(?:top|glob|\/)\)?/, ''));
  return /[*?]/.test(bare.text) ? { text: bare.text.replace(/^\*(?=\.)/, '**/*'), glob: true } : bare;
}

/** Without `--` a word may be a branch; one that ends like a file, or in a slash, is a path. */
function looksLikePath(word: Word): boolean {
  return isKnown(word) && (isEverything(word) || word.glob || hasEnding(word) || /\/$|^\.\//.test(word.text));
}

/** The paths of a checkout; undefined: it goes to another commit. */
function checkedOut({ operands, afterDashes, has }: Options): readonly Word[] | undefined {
  if (afterDashes !== undefined && afterDashes.length > 0) return afterDashes;
  const [first] = operands;
  if (first === undefined) return undefined;
  if (looksLikePath(first) || has('--ours', '--theirs')) return operands;
  return operands.length > 1 ? operands.slice(1) : undefined;
}

/** The commit that a checkout of paths takes them from; undefined: the index. */
function sourceOf({ operands, afterDashes = [], has }: Options): Word | undefined {
  const [first] = operands;
  if (first === undefined || has('--ours', '--theirs')) return undefined;
  if (afterDashes.length > 0) return operands.length > afterDashes.length ? first : undefined;
  return looksLikePath(first) ? undefined : first;
}

function checkout(git: Git): void {
  const { options, found, tree } = git;
  // A new branch starts at what is there, unless another start is named.
  const creates = options.has('-b', '-B', '--orphan');
  const some = creates ? undefined : checkedOut(options);
  const force = options.has('-f', '--force');
  if (options.has('--pathspec-from-file')) found.everywhere(tree, 'git checkout .');
  else if (some !== undefined) paths(git, some, 'checkout', sourceOf(options));
  else if (options.operands.length > 0 || (force && !creates)) {
    found.everywhere(tree, force ? 'git checkout --force' : 'git checkout');
  }
}

function switchBranch({ options, found, tree }: Git): void {
  // A new branch starts at what is there, unless another start is named; an orphan starts with no file at all.
  if (options.operands.length > 0 || options.has('--orphan')) {
    const force = options.has('-f', '--force', '--discard-changes');
    found.everywhere(tree, force ? 'git switch --force' : 'git switch');
  }
}

function restore(git: Git): void {
  const { options, found, tree } = git;
  // The index alone is no file of the work tree.
  if (options.has('--staged', '-S') && !options.has('--worktree', '-W')) return;
  // Which paths is in a file.
  if (options.has('--pathspec-from-file')) found.everywhere(tree, 'git restore .');
  else paths(git, options.operands, 'restore', options.values('-s', '--source').at(-1));
}

function remove({ options, command, found }: Git): void {
  if (options.has('--cached', '-n', '--dry-run')) return;
  for (const word of options.operands) {
    if (options.has('-r')) found.tree(command, pathspec(word));
    else found.file(command, pathspec(word));
  }
}

function clean(git: Git): void {
  if (git.options.has('-n', '--dry-run')) return;
  if (git.options.operands.length === 0) git.found.everywhere(git.tree, 'git clean');
  else paths(git, git.options.operands, 'clean');
}

function reset({ options, found, tree }: Git): void {
  const mode = ['--hard', '--merge', '--keep'].find((name) => options.has(name));
  if (mode !== undefined) found.everywhere(tree, `git reset ${mode}`);
}

/** It writes over what is there only where it is told to. */
function checkoutIndex({ options, command, tree, found }: Git): void {
  if (!options.has('-f', '--force')) return;
  const [prefix] = options.values('--prefix');
  if (prefix !== undefined) found.tree(command, prefix);
  else if (options.has('-a', '--all', '--stdin')) found.everywhere(tree, 'git checkout-index --force');
  else found.file(command, options.operands);
}

function stash(git: Git): void {
  const { options, found, tree } = git;
  const verb = options.operands[0]?.text ?? 'push';
  const some = options.afterDashes ?? (verb === 'push' ? options.operands.slice(1) : []);
  if (/^(?:pop|apply|branch)$/.test(verb)) found.everywhere(tree, `git stash ${verb}`);
  else if (/^(?:list|show|drop|clear|create|store|export|import)$/.test(verb)) return;
  else if (some.length > 0) paths(git, some, 'stash');
  else found.everywhere(tree, 'git stash');
}

function apply({ options, command, tree, found, input }: Git): void {
  if (options.has('--check', '--stat', '--numstat', '--summary', '--cached')) return;
  const level = Number(options.values('-p')[0]?.text ?? 1) || 0;
  const files = options.operands.filter(({ text }) => text !== '-');
  patched(command, found, level, files, options.values('--directory')[0]);
  if (files.length > 0 || textOf(command.input) === undefined) found.everywhere(tree, 'git apply', input);
}

function am(git: Git): void {
  const { options, command, found, input } = git;
  whole('am')(git, input);
  if (options.operands.length === 0 && textOf(command.input) !== undefined) patched(command, found, 1, []);
}

function worktree({ options, command, found }: Git): void {
  const [verb, first] = options.operands;
  if (first !== undefined && /^(?:add|remove)$/.test(verb?.text ?? '')) found.tree(command, first);
}

function clone({ options, command, found }: Git): void {
  const [url, folder] = options.operands;
  if (folder !== undefined) found.tree(command, folder);
  else if (url !== undefined)
    found.tree(
      command,
      mapWord(url, (text) => baseName(text.replace(/:/g, '/')).replace(/\.git$/, '')),
    );
}

function submodule({ options, command, tree, found }: Git): void {
  const [verb, url, folder] = options.operands;
  if (verb?.text === 'update') found.everywhere(tree, 'git submodule update');
  if (verb?.text !== 'add' || url === undefined) return;
  found.file(command, { text: '.gitmodules', glob: false });
  found.tree(command, folder ?? mapWord(url, (text) => baseName(text).replace(/\.git$/, '')));
}

/** Git takes the start of a long option for all of it. */
const CONFIG_WRITES = /^--(?:ad|rep|uns|ren|rem|ed)[a-z-]*$/;

function config({ command, found }: Git): void {
  const { args } = command;
  const options = parseOptions(args, { takes: GIT_CONFIG_TAKES });
  if (options.has(...GIT_CONFIG_READS)) return;
  const told = options.has('-e') || args.some(({ text }) => CONFIG_WRITES.test(text));
  if (told || setsByWords(options.operands)) found.file(command, options.values('-f', '--file'));
}

/** `git config set a.b c`, and as ever `git config a.b c`: a name alone asks for its value. */
function setsByWords([first, ...rest]: readonly Word[]): boolean {
  if (first === undefined || /^(?:get|list)$/.test(first.text)) return false;
  if (/^(?:set|unset|rename-section|remove-section|edit)$/.test(first.text)) return true;
  // An unknown word may be a name and a value, unless it ends as a name does: `submodule.$name.url`.
  return rest.length > 0 || (!isKnown(first) && first.tail?.includes('.') !== true);
}

/** Commands that bring the work tree to another commit. */
function whole(name: string, ...harmless: readonly string[]): (git: Git, input?: Git['input']) => void {
  return ({ options, found, tree }, input) => {
    if (!options.has('--dry-run', '--show-current-patch', ...harmless))
      found.everywhere(tree, `git ${name}`, input);
  };
}

const output = ({ options, command, found }: Git): void =>
  found.file(command, options.values('-o', '--output'));

/** What a command reads: one file, by `<` or printed for it by `cat`, or what another git command prints. */
function inputOf({ reads, from, folder }: SimpleCommand): Git['input'] {
  const [printer] = from;
  if (from.length === 1 && printer?.name === 'git') return { printer: printer.args };
  const printed = from.length === 1 && printer?.name === 'cat' ? printer.args : [];
  const [file, ...more] = reads.length > 0 ? reads : printed;
  return file === undefined || more.length > 0 ? {} : { reads: within(folder, file) };
}

/** With these, what git says about the work tree around the folder says nothing about the command. */
const OTHER_REPOSITORY = ['GIT_DIR', 'GIT_COMMON_DIR', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY'];

const COMMANDS: Readonly<Record<string, (git: Git) => void>> = {
  checkout,
  switch: switchBranch,
  restore,
  rm: remove,
  mv: ({ command, found }) => fileWriters.mv?.(command, found),
  clean,
  reset,
  stash,
  apply,
  am,
  merge: whole('merge', '--quit'),
  rebase: whole('rebase', '--quit'),
  pull: whole('pull'),
  'cherry-pick': whole('cherry-pick', '--quit'),
  revert: whole('revert', '--quit'),
  bisect: whole('bisect'),
  'read-tree': ({ options, found, tree }) =>
    options.has('-u') ? found.everywhere(tree, 'git read-tree -u') : undefined,
  'checkout-index': checkoutIndex,
  'sparse-checkout': whole('sparse-checkout'),
  'filter-branch': whole('filter-branch'),
  submodule,
  worktree,
  clone,
  archive: output,
  diff: output,
  log: output,
  show: output,
  'diff-tree': output,
  'diff-index': output,
  'diff-files': output,
  bundle: ({ options, command, found }) => {
    if (options.operands[0]?.text === 'create') found.file(command, options.operands.slice(1, 2));
  },
  config,
  'merge-file': ({ options, command, found }) => {
    if (!options.has('-p', '--stdout')) found.file(command, options.operands.slice(0, 1));
  },
  'format-patch': ({ options, command, found }) => {
    if (options.has('--stdout')) return;
    const [folder] = options.values('-o', '--output-directory');
    found.file(
      command,
      folder === undefined
        ? { text: '*.patch', glob: true }
        : within(folder, { text: '*.patch', glob: true }),
    );
  },
};

/** They write no file of the work tree. What is neither here nor above may be an alias of the repository. */
const OTHER_BUILTINS = new Set(['branch', 'symbolic-ref', 'update-ref', 'gui', 'citool', 'instaweb']);

export const git: Writer = (command, found) => {
  const words = [{ text: 'git', glob: false }, ...command.args];
  const start = afterOptions(words, 1, GLOBAL);
  const name = words[start]?.text ?? '';
  if (words[start]?.unknown !== undefined)
    return found.unknown(`${words[start]?.unknown} as a command of git`);
  const global = parseOptions(words.slice(1, start), { takes: GLOBAL });
  let { folder } = command;
  for (const into of global.values('-C')) folder = shortFolder(within(folder, into));
  const [other] = [...global.values('--work-tree'), ...(command.variables.get('GIT_WORK_TREE') ?? [])];
  const args = words.slice(start + 1);
  const options = parseOptions(args, { takes: OWN_TAKES[name] ?? TAKES });
  const own = { ...command, args, folder };
  const isOther = global.has('--git-dir') || OTHER_REPOSITORY.some((each) => command.variables.has(each));
  const tree = {
    ...own,
    args: isOther ? [unknownWord('another repository')] : args,
    folder: other === undefined ? folder : shortFolder(within(folder, other)),
  };
  if (Object.hasOwn(COMMANDS, name))
    COMMANDS[name]?.({ command: own, tree, found, options, input: inputOf(command) });
  else if (/^[a-z][\w-]*$/i.test(name) && !GIT_STAYS.has(name) && !OTHER_BUILTINS.has(name))
    found.everywhere(tree, `git ${name}`, { isAlias: true });
};
