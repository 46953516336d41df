import type { SimpleCommand } from '../shell/command.ts';
import { GIT_GLOBAL } from '../shell/git-names.ts';
import { afterOptions, parseOptions } from '../shell/options.ts';
import type { Place } from '../shell/parameters.ts';
import { isKnown, literal, type Word, within } from '../shell/word.ts';
import { gitOf, inGitFolder } from './programs/git-command.ts';

/** With these git looks at another repository than the one around the folder. */
const OTHER_REPOSITORY = /^(?:--git-dir|--work-tree|--namespace)(?:=|$)/;
const VARIABLES = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_NAMESPACE'];

/** A branch that a command leaves checked out, `any` where that can't be told, undefined where it changes none. */
type Move = string | 'any' | undefined;

/**
 * The branches that may be checked out when a command of the line runs: the one that is now, and those that commands before it
 * turn to, each of which may fail. Undefined: it can't be told.
 */
export function checkedOut(
  commands: readonly SimpleCommand[],
  index: number,
  place: Place,
): readonly string[] | undefined {
  const command = commands[index];
  const folder = command === undefined ? undefined : folderOf(command, place);
  const now = folder === undefined ? undefined : place.branch?.(folder);
  if (now === undefined) return undefined;
  const found = new Set([now]);
  for (const before of commands.slice(0, index)) {
    const move = moveOf(before);
    if (move === 'any') return undefined;
    if (move !== undefined) found.add(move);
  }
  return [...found];
}

function folderOf(command: SimpleCommand, { cwd }: Place): string | undefined {
  const { args, elsewhere, variables } = command;
  const own = args.slice(0, afterOptions(args, 0, GIT_GLOBAL));
  if (elsewhere === true || own.some(({ text }) => OTHER_REPOSITORY.test(text))) return undefined;
  if (VARIABLES.some((name) => variables.has(name))) return undefined;
  const folder = within(literal(cwd), within(command.folder, inGitFolder(command, literal('.'))));
  return isKnown(folder) && !folder.glob ? folder.text : undefined;
}

function moveOf(command: SimpleCommand): Move {
  const { name, args } = command;
  if (/^(?:hub|jj|stg|gt|git-town|tig|lazygit)$/.test(name)) return 'any';
  if (/^(?:gh|glab)$/.test(name))
    return args.some(({ text }) => /^(?:checkout|co|develop|merge)$/.test(text)) ? 'any' : undefined;
  const git = name === 'git' ? gitOf(command) : undefined;
  if (git === undefined) return name === 'git' && args.length > 0 ? 'any' : undefined;
  const { operands, has, values } = parseOptions(git.rest, {
    takes:
      '-b -B -c -C --create --force-create --orphan --onto -s --strategy -X -x --exec --conflict --pathspec-from-file',
  });
  switch (git.verb) {
    case 'checkout':
    case 'switch': {
      if (git.rest.some(({ text }) => text === '--')) return undefined;
      const made = values('-b', '-B', '-c', '-C', '--create', '--force-create', '--orphan');
      return named(made[0] ?? operands[0]);
    }
    case 'branch':
      return has('-m', '-M', '--move', '-c', '-C') ? named(operands.at(-1)) : undefined;
    case 'symbolic-ref':
      return named(operands.at(-1));
    case 'stash':
      return operands[0]?.text === 'branch' ? named(operands[1]) : undefined;
    case 'rebase':
      return operands.length > 1 ? named(operands.at(-1)) : undefined;
    case 'bisect':
    case 'flow':
    case 'town':
      return 'any';
    default:
      return undefined;
  }
}

function named(word: Word | undefined): Move {
  if (!isKnown(word) || word.glob || /^(?:-|@\{.*)$/.test(word.text)) return 'any';
  return word.text.replace(/^refs\/heads\//, '');
}
