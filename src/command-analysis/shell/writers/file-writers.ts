import { found as filesFound, findActs } from '../prints.ts';
import { type OptionSpec, type Options, parseOptions } from '../program-options.ts';
import type { SimpleCommand } from '../shell-command.ts';
import type { ShellFindings, Writer } from '../shell-findings.ts';
import { baseName, hasEnding, isKnown, literal, mapWord, unknownWord, type Word, within } from '../word.ts';

/** Everything that is no option is written. */
function operands(spec: OptionSpec = {}): Writer {
  return (command, found) => found.file(command, parseOptions(command.args, spec).operands);
}

/** `chmod -x f`: the mode looks like an option. */
const permissions: Writer = (command, found) => {
  const mode = command.args.findIndex(({ text }) => /^-[rwxXstugo]+$/.test(text));
  const args = command.args.filter((_, index) => index !== mode);
  const options = parseOptions(args, { takes: '--reference --from' });
  const skipped = mode === -1 && !options.has('--reference') ? 1 : 0;
  const paths = options.operands.slice(skipped);
  if (options.has('-R', '--recursive')) found.tree(command, paths);
  else found.file(command, paths);
};

const isFolder = (word: Word): boolean => /(?:^|\/)\.{0,2}$/.test(word.text);

interface Transfer {
  readonly sources: readonly Word[];
  readonly target: Word;
  /** The target is a folder for sure: `-t`, a slash at the end, several sources. */
  readonly into: boolean;
  /** It is no folder for sure: `-T`. A link of that name is replaced. */
  readonly exact: boolean;
}

function transferOf(options: Options): Transfer | undefined {
  const given = options.values('-t', '--target-directory')[0];
  const sources = given === undefined ? options.operands.slice(0, -1) : options.operands;
  const target = given ?? options.operands.at(-1);
  if (target === undefined || sources.length === 0) return undefined;
  // In a loop over a pattern source and target are patterns, and one file each.
  const patterns = !target.glob && sources.some(({ glob, spelling }) => glob && spelling === undefined);
  const several = sources.length > 1 || patterns;
  const exact = options.has('-T', '--no-target-directory');
  const into = !exact && (given !== undefined || several || (isKnown(target) && isFolder(target)));
  return { sources, target, into, exact };
}

/** What a source is called inside the target. */
function inside(target: Word, source: Word): Word {
  if (!isKnown(target)) return target;
  if (!isKnown(source)) return unknownWord(`${source.unknown} in ${target.text}`);
  const base = mapWord(source, baseName);
  return base.text === '.' || base.text === '' ? target : within(target, base);
}

/** Where copies and moved files arrive; `whole`: folders come with all that is in them. */
function arrive(
  command: SimpleCommand,
  found: ShellFindings,
  { sources, target, into, exact }: Transfer,
  whole = false,
): void {
  for (const source of sources) {
    const asTree = whole && !hasEnding(source);
    const put = (word: Word): void => {
      if (asTree) found.tree(command, word);
      else found.file(command, word);
    };
    if (into) put(inside(target, source));
    else {
      put(target);
      // `cp a.ts lib`: a new file, or one in the folder of that name.
      const unsure = !asTree && !exact && isKnown(target) && isKnown(source);
      if (unsure && !target.glob && !hasEnding(target)) put(inside(target, source));
    }
  }
}

const move: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-t -S --target-directory --suffix' });
  const transfer = transferOf(options);
  if (transfer === undefined) return;
  for (const source of transfer.sources) {
    if (hasEnding(source)) found.file(command, source);
    else found.tree(command, source);
  }
  arrive(command, found, transfer, true);
};

const copy: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-t -S --target-directory --suffix' });
  const transfer = transferOf(options);
  if (transfer === undefined) return;
  arrive(command, found, transfer, options.has('-r', '-R', '-a', '--recursive', '--archive'));
  // A hard link doesn't show later whose file it is, so it counts as a change of the file.
  if (options.has('-l', '--link')) found.file(command, transfer.sources);
};

const install: Writer = (command, found) => {
  const takes = '-m -o -g -t -S --mode --owner --group --target-directory';
  const options = parseOptions(command.args, { takes });
  if (options.has('-d', '--directory')) return found.file(command, options.operands);
  const transfer = transferOf(options);
  if (transfer !== undefined) arrive(command, found, transfer);
};

const link: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-t -S --target-directory' });
  // With one word it makes a link of that name here.
  const here: Transfer = { sources: options.operands, target: literal(''), into: true, exact: false };
  const given = transferOf(options) ?? here;
  // `ln -n` takes a link to a folder for a file.
  const exact = given.exact || (!given.into && options.has('-n', '--no-dereference'));
  const transfer = { ...given, exact };
  arrive(command, found, transfer);
  // A hard link doesn't show later whose file it is, so it counts as a change of the file.
  if (!options.has('-s', '--symbolic')) found.file(command, transfer.sources);
};

const rsync: Writer = (command, found) => {
  const takes =
    '-e -f --exclude --include --filter --exclude-from --include-from --files-from --rsh --chmod --backup-dir';
  const options = parseOptions(command.args, { takes });
  if (options.has('-n', '--dry-run', '--list-only')) return;
  const sources = options.operands.slice(0, -1);
  const target = options.operands.at(-1);
  if (target === undefined || sources.length === 0) return;
  if (options.has('--remove-source-files')) found.tree(command, sources);
  const files = sources.every(hasEnding) && !options.has('--delete');
  if (files) arrive(command, found, { sources, target, into: isFolder(target), exact: false });
  else found.tree(command, target);
};

const scp: Writer = (command, found) => {
  const takes = '-P -i -o -c -F -J -l -S -D -X';
  const options = parseOptions(command.args, { takes });
  const transfer = transferOf(options);
  if (transfer !== undefined) arrive(command, found, transfer, options.has('-r'));
};

const dd: Writer = (command, found) => {
  for (const word of command.args) {
    if (word.text.startsWith('of='))
      found.file(
        command,
        mapWord(word, (text) => text.slice(3)),
      );
    else if (!isKnown(word)) found.unknown(`${word.unknown} as target of dd`);
  }
};

function removed(whole: (options: Options) => boolean): Writer {
  return (command, found) => {
    const options = parseOptions(command.args);
    if (whole(options)) found.tree(command, options.operands);
    else found.file(command, options.operands);
  };
}

const remove = removed(({ has }) => has('-r', '-R', '--recursive'));

/** `find … -delete`, `-fprint file`; what `-exec` runs is a command of its own. */
const find: Writer = (command, found) => {
  if (findActs(command.args, '-delete')) found.file(command, filesFound(command.args));
  command.args.forEach(({ text }, index) => {
    const next = command.args[index + 1];
    if (/^-(?:fprint0?|fprintf|fls)$/.test(text) && next !== undefined) found.file(command, next);
  });
};

export const fileWriters: Readonly<Record<string, Writer>> = {
  rm: remove,
  grm: remove,
  trash: removed(() => true),
  rmdir: operands(),
  unlink: removed(() => false),
  shred: operands({ takes: '-n -s --iterations --size --random-source' }),
  truncate: operands({ takes: '-s -r --size --reference' }),
  touch: operands({ takes: '-r -d -t --reference --date' }),
  mkdir: operands({ takes: '-m --mode' }),
  tee: operands(),
  sponge: operands(),
  chmod: permissions,
  chown: permissions,
  chgrp: permissions,
  mv: move,
  gmv: move,
  rename: (command, found) =>
    found.file(command, parseOptions(command.args, { takes: '-e' }).operands.slice(1)),
  cp: copy,
  gcp: copy,
  install,
  ln: link,
  rsync,
  scp,
  dd,
  find,
};
