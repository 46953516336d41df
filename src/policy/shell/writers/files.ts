import type { SimpleCommand } from '../command.ts';
import type { Findings, Writer } from '../findings.ts';
import { type OptionSpec, type Options, parseOptions } from '../options.ts';
import { found as filesFound } from '../prints.ts';
import { baseName, hasEnding, isKnown, literal, mapWord, unknownWord, type Word, within } from '../word.ts';

/** Everything that is no option is written. */
function operands(spec: OptionSpec = {}): Writer {
  return (command, found) => found.file(command, ...parseOptions(command.args, spec).operands);
}

/** Operands with all that is below them, when asked for by one of these options. */
function deep(...flags: readonly string[]): Writer {
  return (command, found) => {
    const options = parseOptions(command.args);
    if (options.has(...flags)) found.tree(command, ...options.operands);
    else found.file(command, ...options.operands);
  };
}

/** `chmod -x f`: the mode looks like an option. */
const permissions: Writer = (command, found) => {
  const mode = command.args.findIndex(({ text }) => /^-[rwxXstugo]+$/.test(text));
  const args = command.args.filter((_, index) => index !== mode);
  const options = parseOptions(args, { takes: '--reference --from' });
  const skipped = mode === -1 && !options.has('--reference') ? 1 : 0;
  const paths = options.operands.slice(skipped);
  if (options.has('-R', '--recursive')) found.tree(command, ...paths);
  else found.file(command, ...paths);
};

const isFolder = (word: Word): boolean => /(?:^|\/)\.{0,2}$/.test(word.text);

interface Transfer {
  readonly sources: readonly Word[];
  readonly target: Word;
  /** The target is a folder for sure: `-t`, a slash at the end, several sources. */
  readonly into: boolean;
}

function transferOf(options: Options): Transfer | undefined {
  const given = options.values('-t', '--target-directory')[0];
  const sources = given === undefined ? options.operands.slice(0, -1) : options.operands;
  const target = given ?? options.operands.at(-1);
  if (target === undefined || sources.length === 0) return undefined;
  // In a loop over a pattern source and target are patterns, and one file each.
  const patterns = !target.glob && sources.some(({ glob, spelling }) => glob && spelling === undefined);
  const several = sources.length > 1 || patterns;
  const into =
    !options.has('-T') && (given !== undefined || several || (isKnown(target) && isFolder(target)));
  return { sources, target, into };
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
  found: Findings,
  { sources, target, into }: Transfer,
  whole: boolean,
): void {
  for (const source of sources) {
    const asTree = whole && !hasEnding(source);
    const put = (word: Word): void => (asTree ? found.tree(command, word) : found.file(command, word));
    if (into) put(inside(target, source));
    else {
      put(target);
      // `cp a.ts lib`: a new file, or one in the folder of that name.
      if (!asTree && isKnown(target) && isKnown(source) && !target.glob && !hasEnding(target))
        put(inside(target, source));
    }
  }
}

const move: Writer = (command, found) => {
  const transfer = transferOf(parseOptions(command.args, { takes: '-t -S --target-directory --suffix' }));
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
  if (options.has('-l', '--link')) linked(command, found, transfer, 'hard');
  else if (options.has('-s', '--symbolic-link')) linked(command, found, transfer, 'symbolic');
};

/**
 * Other names for the sources. A hard one shows nobody later whose file it is, so it counts as a change of the file; what goes
 * through a symbolic one is followed, on the disk and within this command line.
 */
function linked(
  command: SimpleCommand,
  found: Findings,
  { sources, target, into }: Transfer,
  kind: 'hard' | 'symbolic' | 'relative',
): void {
  if (kind === 'hard') found.file(command, ...sources);
  for (const source of sources) {
    const names = into ? [inside(target, source)] : [target, inside(target, source)];
    for (const name of names) found.link(command, name, kind === 'symbolic' ? besides(name, source) : source);
  }
}

/** A symbolic link's text is read from where the link is. */
function besides(name: Word, target: Word): Word {
  const folder = mapWord(name, (text) => (text.includes('/') ? text.replace(/[^/]*$/, '') : ''));
  return within(folder, target);
}

const install: Writer = (command, found) => {
  const takes = '-m -o -g -t -S --mode --owner --group --target-directory';
  const options = parseOptions(command.args, { takes });
  if (options.has('-d', '--directory')) return found.file(command, ...options.operands);
  const transfer = transferOf(options);
  if (transfer !== undefined) arrive(command, found, transfer, false);
};

const link: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-t -S --target-directory' });
  const transfer = transferOf(options);
  // `ln -n` and `-T` take a link to a folder for a file.
  const plain = options.has('-n', '-T', '--no-dereference');
  if (transfer === undefined)
    return found.file(command, ...options.operands.map((word) => mapWord(word, baseName)));
  if (plain) found.file(command, transfer.target);
  else arrive(command, found, transfer, false);
  const kind = !options.has('-s', '--symbolic')
    ? 'hard'
    : options.has('-r', '--relative')
      ? 'relative'
      : 'symbolic';
  linked(command, found, plain ? { ...transfer, into: false } : transfer, kind);
};

const rsync: Writer = (command, found) => {
  const takes =
    '-e -f --exclude --include --filter --exclude-from --include-from --files-from --rsh --chmod --backup-dir';
  const options = parseOptions(command.args, { takes });
  if (options.has('-n', '--dry-run', '--list-only')) return;
  const sources = options.operands.slice(0, -1);
  const target = options.operands.at(-1);
  if (target === undefined || sources.length === 0) return;
  if (options.has('--remove-source-files')) found.tree(command, ...sources);
  const files = sources.every(hasEnding) && !options.has('--delete');
  if (files) arrive(command, found, { sources, target, into: isFolder(target) }, false);
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

const remove: Writer = (command, found) => deep('-r', '-R', '--recursive')(command, found);

/** `find … -delete`, `-fprint file`; what `-exec` runs is a command of its own. */
const find: Writer = (command, found) => {
  command.args.forEach(({ text }, index) => {
    const next = command.args[index + 1];
    if (text === '-delete') found.file(command, ...filesFound(command.args));
    if (/^-(?:fprint0?|fprintf|fls)$/.test(text) && next !== undefined) found.file(command, next);
  });
};

const split: Writer = (command, found) => {
  const options = parseOptions(command.args, {
    takes: '-a -b -C -l -n -t --lines --bytes --number --suffix-length',
  });
  const prefix = options.operands[1] ?? literal('x');
  found.file(command, isKnown(prefix) ? { text: `${prefix.text}*`, glob: true } : prefix);
};

const csplit: Writer = (command, found) => {
  const [prefix = literal('xx')] = parseOptions(command.args, { takes: '-f -b -n --prefix' }).values(
    '-f',
    '--prefix',
  );
  found.file(command, isKnown(prefix) ? { text: `${prefix.text}*`, glob: true } : prefix);
};

export const fileWriters: Readonly<Record<string, Writer>> = {
  rm: remove,
  grm: remove,
  trash: (command, found) => found.tree(command, ...parseOptions(command.args).operands),
  rmdir: operands(),
  unlink: operands(),
  shred: operands({ takes: '-n -s --iterations --size --random-source' }),
  truncate: operands({ takes: '-s -r --size --reference' }),
  touch: operands({ takes: '-r -d -t --reference --date' }),
  mkdir: operands({ takes: '-m --mode' }),
  mkfifo: operands({ takes: '-m' }),
  tee: operands(),
  sponge: operands(),
  chmod: permissions,
  chown: permissions,
  chgrp: permissions,
  mv: move,
  gmv: move,
  rename: (command, found) =>
    found.file(command, ...parseOptions(command.args, { takes: '-e' }).operands.slice(1)),
  cp: copy,
  gcp: copy,
  install,
  ln: link,
  rsync,
  scp,
  dd,
  find,
  split,
  csplit,
};
