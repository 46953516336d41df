import { GIT_STAYS } from '../../command-analysis/git-options.ts';
import { GIT_GLOBAL } from '../../command-analysis/shell/git-names.ts';
import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import { afterOptions, type Options } from '../../command-analysis/shell/program-options.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { isKnown, literal, mapWord, type Word, within } from '../../command-analysis/shell/word.ts';
import { readOptions } from './pattern.ts';
import { type GitCommand, gitOf, inGitFolder, looksLikePath } from './programs/git-command.ts';

/** With these, git uses another repository than the one around the folder. */
const OTHER_REPOSITORY = /^(?:--git-dir|--work-tree|--namespace)(?:=|$)/;
const VARIABLES = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_NAMESPACE'];

const TAKES =
  '-b -B -c -C --create --force-create --orphan --onto -s --strategy -X -x --exec --conflict --pathspec-from-file';
const LONGS = `${TAKES} --force --track --move`;

/** What a command leaves checked out. */
interface Move {
  /** Undefined: unknown which. */
  readonly to: string | undefined;
  /**
   * If it succeeds, is that branch checked out and no other? `if_branch`: unless the word is the path of a
   * file.
   */
  readonly surely?: boolean | 'if_branch';
}

const ANY: Move = { to: undefined };

/**
 * The branches that may be checked out when a command of the line runs: the current one, and those that
 * earlier commands switch to, each of which may fail. If it runs only after one of them has succeeded (`&&`),
 * the branches before that no longer count. Undefined among them: it may be any other as well.
 */
export function possiblyCheckedOut(
  commands: readonly SimpleCommand[],
  index: number,
  place: ShellPlace,
): readonly (string | undefined)[] {
  const command = commands[index];
  const folder = command === undefined ? undefined : folderOf(command, place);
  if (folder === undefined) return [undefined];
  const succeeded = new Set(command?.afterSuccessOf);
  // For commands that run at the same time, the order is unknown.
  const atAnyTime = new Set<string | undefined>();
  let found = new Set([place.branch?.(folder)]);
  for (const before of commands.slice(0, index)) {
    const move = moveOf(before);
    if (move === undefined) continue;
    if (succeeded.has(before) && folderOf(before, place) === folder && isSure(move, folder, place))
      found = new Set(atAnyTime);
    found.add(move.to);
    if (before.afterSuccessOf === undefined) atAnyTime.add(move.to);
  }
  return [...found];
}

/** The same for a caller that wants all of them or none. Undefined: unknown. */
export function checkedOut(
  commands: readonly SimpleCommand[],
  index: number,
  place: ShellPlace,
): readonly string[] | undefined {
  const found = possiblyCheckedOut(commands, index, place);
  return found.every((branch) => branch !== undefined) ? found : undefined;
}

function isSure({ to, surely = false }: Move, folder: string, place: ShellPlace): boolean {
  if (surely !== 'if_branch' || to === undefined) return surely === true;
  // If the repository can't be read, the word alone counts; without a repository it may be anything.
  return place.isBranch?.(folder, to) ?? place.branch?.(folder) !== undefined;
}

function folderOf(command: SimpleCommand, { cwd }: ShellPlace): string | undefined {
  const { args, elsewhere, variables } = command;
  const own = args.slice(0, afterOptions(args, 0, GIT_GLOBAL));
  if (elsewhere === true || own.some(({ text }) => OTHER_REPOSITORY.test(text))) return undefined;
  if (VARIABLES.some((name) => variables.has(name))) return undefined;
  const folder = within(literal(cwd), within(command.folder, inGitFolder(command, literal('.'))));
  return isKnown(folder) && !folder.glob ? folder.text : undefined;
}

/** Undefined: it leaves what is checked out as it is. */
function moveOf(command: SimpleCommand): Move | undefined {
  const { name, args } = command;
  if (/^(?:hub|jj|stg|gt|git-town|tig|lazygit)$/.test(name)) return ANY;
  if (/^(?:gh|glab)$/.test(name))
    return args.some(({ text }) => /^(?:checkout|co|develop|merge)$/.test(text)) ? ANY : undefined;
  if (name !== 'git') return undefined;
  const git = gitOf(command);
  // Without a verb (`git --version`) it only prints something; an unknown verb may be any.
  if (git === undefined) return args.length > afterOptions(args, 0, GIT_GLOBAL) ? ANY : undefined;
  const options = readOptions(git.rest, LONGS, { takes: TAKES });
  const { operands, has } = options;
  switch (git.verb) {
    case 'checkout':
    case 'switch': {
      const move = turnsTo(options, git.verb === 'checkout');
      return move === undefined || isPlain(command, git) ? move : { to: move.to };
    }
    case 'branch':
      return has('-m', '-M', '--move', '-c', '-C') ? named(operands.at(-1)) : undefined;
    case 'symbolic-ref':
      return named(operands.at(-1));
    case 'stash':
      return operands[0]?.text === 'branch' ? named(operands[1]) : undefined;
    case 'rebase':
      return operands.length > 1 ? named(operands.at(-1)) : undefined;
    default:
      return GIT_STAYS.has(git.verb) ? undefined : ANY;
  }
}

/**
 * Options with which it still switches to the branch that it names. Other options may ask for help, for
 * patches, or for no branch.
 */
const PLAIN = /^(?:-[qfmtlbBcC]|--(?:quiet|force|merge|track|no-track|create|force-create|orphan|progress))$/;
const PLAIN_GLOBAL = /^(?:-C|-c|--no-pager)$/;

/** `git --help checkout x` and `git checkout -p x` also succeed, but switch to nothing. */
function isPlain({ args }: SimpleCommand, { rest }: GitCommand): boolean {
  const isOption = ({ text }: Word): boolean => text.startsWith('-') && text !== '--';
  const own = args.slice(0, args.length - rest.length - 1);
  return (
    args.every(isKnown) &&
    own.filter(isOption).every(({ text }) => PLAIN_GLOBAL.test(text)) &&
    rest.filter(isOption).every(({ text }) => PLAIN.test(text))
  );
}

function turnsTo({ operands, afterDashes, has, values }: Options, takesPaths: boolean): Move | undefined {
  const [made] = values('-b', '-B', '-c', '-C', '--create', '--force-create', '--orphan');
  if (made !== undefined) return { ...named(made), surely: true };
  const [first] = operands;
  if (takesPaths && (first === undefined || arePaths(operands, afterDashes))) return undefined;
  // The branch is named like the remote one: `-t origin/main`.
  if (isKnown(first) && has('-t', '--track')) {
    const bare = mapWord(first, (text) => text.replace(/^(?:refs\/)?(?:remotes\/)?[^/]+\//, ''));
    return { ...named(bare), surely: true };
  }
  // The branch that is already checked out.
  if (/^(?:HEAD|@)$/.test(first?.text ?? '')) return undefined;
  if (!takesPaths || afterDashes !== undefined) return { ...named(first), surely: true };
  return first !== undefined && looksLikePath(first)
    ? named(first)
    : { ...named(first), surely: 'if_branch' };
}

/**
 * `checkout main a.ts` and `checkout main -- a.ts` fetch files; `checkout main --`, and `$X` if it is empty,
 * switch to main.
 */
function arePaths(operands: readonly Word[], afterDashes: readonly Word[] | undefined): boolean {
  if (afterDashes !== undefined) return afterDashes.length > 0;
  return operands.length > 1 && operands.every(isKnown);
}

function named(word: Word | undefined): Move {
  if (!isKnown(word) || word.glob || /^(?:-|@\{.*)$/.test(word.text)) return ANY;
  return { to: word.text.replace(/^refs\/heads\//, '') };
}
