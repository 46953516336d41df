import { decodedBy } from './decoders.ts';
import { escapesRead } from './escapes.ts';
import { filtered } from './filters.ts';
import { linesRead } from './inputs.ts';
import { ANY_NAME, type ShellPlace } from './parameters.ts';
import { parseOptions } from './program-options.ts';
import { isSentAway, type SimpleCommand } from './shell-command.ts';
import {
  baseName,
  isKnown,
  type KnownWord,
  type Lines,
  literal,
  mapWord,
  shortFolder,
  unknownWord,
  type Word,
  within,
} from './word.ts';

const SILENT = new Set([
  '',
  ...'[ test true false : cd rm rmdir mkdir mv cp touch ln chmod chown set shopt export unset exit return'.split(
    ' ',
  ),
  ...'sleep kill wait trap exec'.split(' '),
]);
/** Their answer is one name without a slash. */
const NAMES = new Set('date whoami hostname uuidgen nproc id uname arch wc'.split(' '));
const LINES_MAX = 200;

function linesOf(text: string): Word[] | undefined {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.length > LINES_MAX ? undefined : lines.map(literal);
}

function echoed(args: readonly Word[]): Lines | undefined {
  const flags = args.findIndex(({ text }) => !/^-[neE]+$/.test(text));
  const words = flags === -1 ? [] : args.slice(flags);
  if (words.some((word) => word.glob || !isKnown(word))) return words;
  const text = words.map((word) => word.text).join(' ');
  return linesOf(
    args.slice(0, Math.max(flags, 0)).some((flag) => flag.text.includes('e')) ? escapesRead(text) : text,
  );
}

function printfed(words: readonly Word[]): Lines | undefined {
  const [format, ...args] = words[0]?.text === '--' ? words.slice(1) : words;
  if (format?.text === '-v') return [];
  if (!isKnown(format)) return undefined;
  if (!format.text.includes('%')) return linesOf(escapesRead(format.text));
  // One name a line, which may be patterns, or only one of them known.
  if (/^%[sq](?:\\n|\\0| )?$/.test(format.text) && args.some((word) => word.glob || !isKnown(word)))
    return args.flatMap((word) => (word.glob || !isKnown(word) ? [word] : (linesOf(word.text) ?? [])));
  const text = formatted(format.text, args);
  return text === undefined ? undefined : linesOf(text);
}

/** The format again and again until all arguments are in. */
function formatted(format: string, args: readonly Word[]): string | undefined {
  if (args.some((word) => word.glob || !isKnown(word))) return undefined;
  const waiting = args.map(({ text }) => text);
  const pieces: string[] = [];
  let known = true;
  do {
    const left = waiting.length;
    const filled = format.replace(/%(?:%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g, (whole, kind?: string) => {
      if (whole === '%%') return '%';
      const value = waiting.shift() ?? '';
      if (kind === 'b') return escapesRead(value).replaceAll('\\', '\\\\');
      if (whole === '%c') return value.slice(0, 1);
      if (!/^%[sqdi]$/.test(whole)) known = false;
      return value.replaceAll('\\', '\\\\');
    });
    pieces.push(escapesRead(filled));
    if (waiting.length === left) break;
  } while (waiting.length > 0 && pieces.length < LINES_MAX);
  return known ? pieces.join('') : undefined;
}

/** Everything below a folder, or what below it has a name; `.` adds nothing to a path. */
function below(folder: Word, names = '**'): Word {
  const prefix = (text: string): string =>
    text === '.' || text === './' ? '' : `${text.replace(/\/+$/, '')}/`;
  return isKnown(folder) ? { text: prefix(folder.text) + names, glob: true } : folder;
}

const simpleName = (word: Word | undefined): word is KnownWord =>
  isKnown(word) && !/[[\]{}]/.test(word.text) && !word.text.includes('/');

/** Tests of find that take the next word, whatever it looks like. */
const FIND_TAKES =
  /^-(?:i?l?name|i?path|i?wholename|i?regex|regextype|type|xtype|newer\w*|anewer|cnewer|perm|size|user|group|uid|gid|[acm]time|[acm]min|used|links|inum|samefile|fstype|context|maxdepth|mindepth|printf|fprint0?|fls|D|O)$/;

/** Is this word of find's an action of its own: no name that is looked for, no argument of a command that is run? */
export function findActs(args: readonly Word[], action: string): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === action) return true;
    if (text === '-fprintf') at += 2;
    else if (FIND_TAKES.test(text)) at += 1;
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) {
      const end = args.findIndex(
        (word, index) =>
          index > at && (word.text === ';' || (word.text === '+' && args[index - 1]?.text === '{}')),
      );
      // Without an end find itself refuses.
      if (end !== -1) at = end;
    }
  }
  return false;
}

/** Which files `find` finds, as patterns. */
export function found(args: readonly Word[]): Word[] {
  const start = args.findIndex(({ text }) => /^(?:-[a-zA-Z]|[(!])/.test(text) && !/^-[HLPO]/.test(text));
  const roots = (start === -1 ? args : args.slice(0, start)).filter(({ text }) => !/^-[HLPO]/.test(text));
  const tests = start === -1 ? [] : args.slice(start);
  const names: string[] = [];
  let shallow = false;
  tests.forEach(({ text }, index) => {
    const value = tests[index + 1];
    const negated = /^(?:!|-not)$/.test(tests[index - 1]?.text ?? '');
    if (text === '-maxdepth' && value?.text === '1') shallow = true;
    if (text === '-name' && !negated) names.push(simpleName(value) ? value.text : '*');
  });
  // With an alternative that is no name, or a name that has to be a folder's, only the root is sure.
  const loose = tests.some(
    ({ text }, index) =>
      /^-(?:iname|regex|iregex|path|ipath|wholename)$/.test(text) &&
      !/^(?:!|-not)$/.test(tests[index - 1]?.text ?? ''),
  );
  const folders = tests.some(({ text }, index) => text === '-type' && tests[index + 1]?.text === 'd');
  // `-name a -o -type f`: a way without a name takes everything, unless it only keeps out of a folder.
  const ways = tests.reduce<string[][]>(
    (list, { text }) => {
      if (/^-or?$/.test(text)) list.push([]);
      else list.at(-1)?.push(text);
      return list;
    },
    [[]],
  );
  const nameless = ways.length > 1 && ways.some((way) => !way.includes('-name') && !way.includes('-prune'));
  const patterns =
    names.length === 0 || loose || nameless
      ? [shallow ? '*' : '**']
      : names.map((name) => (shallow ? name : `**/${name}`));
  return (roots.length === 0 ? [literal('.')] : roots).flatMap((root) =>
    patterns.map((pattern) => below(root, folders && pattern !== '**' ? `${pattern}/**` : pattern)),
  );
}

function grepped(name: string, args: readonly Word[]): Lines | undefined {
  const takes =
    '-e --regexp -f -g --glob --include --exclude --exclude-dir -t --type -A -B -C -m --max-count';
  const options = parseOptions(args, { takes });
  if (!options.has('-l', '-L', '--files-with-matches', '--files-without-match', '--files')) return undefined;
  const hasPattern = options.has('-e', '--regexp', '-f', '--files');
  const roots = hasPattern ? options.operands : options.operands.slice(1);
  const recursive = name === 'rg' || options.has('-r', '-R', '--recursive');
  if (!recursive) return roots.length === 0 ? undefined : roots;
  const names = options.values('--include', '-g', '--glob').filter(({ text }) => !text.startsWith('!'));
  const patterns =
    names.length > 0 && names.every(simpleName) ? names.map(({ text }) => `**/${text}`) : ['**'];
  return (roots.length === 0 ? [literal('.')] : roots).flatMap((root) =>
    // A path with an ending is one file, in which there is nothing to descend into.
    /\.[a-z]\w*$/i.test(root.text) || root.glob ? [root] : patterns.map((pattern) => below(root, pattern)),
  );
}

/** The top of the work tree around a folder, if that is the one where the command line started. */
function topOf(folder: Word, { cwd, root }: ShellPlace): string | undefined {
  if (!isKnown(folder) || folder.glob || root === undefined) return undefined;
  if (!/^(?:\/|\.\.(?:\/|$))/.test(folder.text)) return root;
  const whole = shortFolder(within(literal(cwd), folder)).text;
  return whole === root || whole.startsWith(`${root}/`) ? root : undefined;
}

function gitPrinted({ args, folder }: Printing, place: ShellPlace): Lines | undefined {
  const [command, ...rest] = args.map(({ text }) => text);
  if (command === 'rev-parse') {
    const asksTop = rest.find((word) => word === '--show-toplevel' || word === '--show-cdup');
    const top = asksTop === undefined ? undefined : topOf(folder, place);
    // The other is the way up, of which only its end matters.
    if (asksTop !== undefined)
      return top === undefined ? undefined : [literal(asksTop === '--show-cdup' ? `${top}/` : top)];
    return rest.some((word) => word.startsWith('--') && word !== '--short') ? undefined : [ANY_NAME];
  }
  if (command === 'ls-files' && !rest.some((word) => /^-[omdku]|^--(?:others|deleted)/.test(word))) {
    const { operands } = parseOptions(args.slice(1), { takes: '-x -X' });
    if (operands.length === 0) return [below(literal('.'))];
    // A pathspec's star also matches slashes, and git takes a quoted one.
    return operands.map((word) =>
      /[*?]/.test(word.text) ? { text: word.text.replace(/^\*(?!\*)/, '**/*'), glob: true } : below(word),
    );
  }
  if (command === 'grep') return grepped('rg', args.slice(1));
  return undefined;
}

function listed(args: readonly Word[]): Lines | undefined {
  const { operands } = parseOptions(args);
  return operands.length > 0 && operands.every((word) => word.glob) ? operands : undefined;
}

function pathPart(name: 'basename' | 'dirname', args: readonly Word[]): Lines | undefined {
  const { operands } = parseOptions(args, { takes: '-s' });
  const [path, suffix] = operands;
  if (!isKnown(path)) return name === 'basename' ? [ANY_NAME] : undefined;
  if (name === 'dirname') {
    return [mapWord(path, (text) => (text.includes('/') ? text.replace(/\/[^/]*\/*$/, '') || '/' : '.'))];
  }
  return [
    mapWord(path, (text) => {
      const base = baseName(text);
      return suffix !== undefined && base.endsWith(suffix.text)
        ? base.slice(0, base.length - suffix.text.length)
        : base;
    }),
  ];
}

function whereAt(folder: Word, { cwd }: ShellPlace): Word {
  return folder.text === '' && isKnown(folder) ? literal(cwd) : within(literal(cwd), folder);
}

/** The path itself: its user follows the same links. */
function real({ name, args, folder }: Printing, place: ShellPlace): Lines | undefined {
  const options = parseOptions(args, { takes: '--relative-to --relative-base' });
  if (options.has('--relative-to', '--relative-base')) return undefined;
  if (name === 'readlink' && !options.has('-f', '-e', '-m', '--canonicalize')) return undefined;
  return options.operands.map((path) => within(whereAt(folder, place), path));
}

/** One new file; the letters that mktemp fills in stand for it. */
function temporary(args: readonly Word[]): Lines | undefined {
  const options = parseOptions(args, { takes: '-p --suffix' });
  if (options.has('-p', '--tmpdir')) return undefined;
  const [template] = options.operands;
  return [template === undefined || options.has('-t') ? literal('/tmp/tmp.XXXXXXXXXX') : template];
}

/** `which node` prints a path that ends in that name. */
function located(args: readonly Word[]): Lines | undefined {
  const { operands } = parseOptions(args);
  return operands.length > 0 && operands.every((word) => isKnown(word) && !word.glob) ? operands : undefined;
}

/** What is looked at of a command to say what it prints. */
type Printing = Pick<SimpleCommand, 'name' | 'args' | 'input' | 'folder' | 'outputs'>;

/** `printf -v x …` as if it printed. */
export function printing(words: readonly Word[]): Printing {
  return { name: 'printf', args: words.slice(3), input: undefined, folder: literal(''), outputs: [] };
}

/** What a command prints, as far as its command line says; undefined: something. */
export function printedBy(command: Printing, place: ShellPlace): Lines | undefined {
  const { name, args, folder } = command;
  if (isSentAway(command.outputs) || SILENT.has(name)) return [];
  if (name === 'echo') return echoed(args);
  if (name === 'printf') return printfed(args);
  if (name === 'find') return found(args);
  if (name === 'ls') return listed(args);
  if (name === 'fd' || name === 'fdfind')
    return [below(parseOptions(args, { takes: '-e -t -E' }).operands[1] ?? literal('.'))];
  if (name === 'git') return gitPrinted(command, place);
  if (name === 'mktemp') return temporary(args);
  if (name === 'pwd') return [whereAt(folder, place)];
  if (name === 'realpath' || name === 'readlink') return real(command, place);
  if (name === 'basename' || name === 'dirname') return pathPart(name, args);
  if (NAMES.has(name)) return args.some(({ text }) => /^\+.*\//.test(text)) ? undefined : [ANY_NAME];
  if (name === 'grep' || name === 'egrep' || name === 'rg') {
    const files = grepped(name, args);
    if (files !== undefined) return files;
  }
  if (name === 'which' || name === 'type' || name === 'command') return located(args);
  const text = decodedBy(name, args, linesRead(name, args, command.input));
  if (text !== undefined) return linesOf(text);
  if (name === 'tr')
    return SEPARATES.test(args.map((word) => word.text).join(' ')) ? command.input : undefined;
  return filtered(name, args, command.input);
}

/** `tr '\n' '\0'`: the names stay what they are. */
const SEPARATES = /^\\n (?:\\0+| )$/;

/** Something is printed, and it is unknown what. */
export const UNSEEN: Word = unknownWord('what is printed');

/** Where nothing of what is printed is known, there is nothing to look at. */
export function seenIn(printed: readonly Word[] | undefined): readonly Word[] | undefined {
  return printed?.includes(UNSEEN) === true && printed.every((word) => word === UNSEEN) ? undefined : printed;
}

/** One word for what a shell, or xargs, would read from there. */
export function unseen(command: string): Word {
  return unknownWord(`what ${command} reads`);
}

/** What takes the place of a substitution: without the line breaks at the end. */
export function substituted(printed: readonly Word[] | undefined): Lines | undefined {
  if (printed === undefined || printed.includes(UNSEEN)) return undefined;
  const last = printed.findLastIndex((line) => line.text !== '' || !isKnown(line));
  return printed.slice(0, Math.max(last, 0) + 1);
}
