import { type OptionSpec, parseOptions } from '../program-options.ts';
import type { Writer } from '../shell-findings.ts';
import { baseName, isKnown, literal, mapWord, textSeen, type Word, within } from '../word.ts';

/** Programs that write what an option names. */
function option(files: string, folders = '', spec: OptionSpec = {}): Writer {
  return (command, found) => {
    const takes = `${files} ${folders} ${spec.takes ?? ''}`;
    const options = parseOptions(command.args, { ...spec, takes });
    found.file(command, options.values(...files.split(' ')));
    found.tree(command, options.values(...folders.split(' ')));
  };
}

/** The last path of a URL is the name a download gets. */
function remoteName(url: Word): Word {
  return mapWord(url, (text) => baseName(text.replace(/[?#].*$/, '').replace(/^[a-z]+:\/\/[^/]*\/?/, '')));
}

const curl: Writer = (command, found) => {
  const takes =
    '-o --output --output-dir -H --header -d --data --data-raw --data-binary -X --request -u --user -A -e -b -c --cookie-jar -F -T -m --max-time --retry -w --write-out -x --connect-timeout -D --dump-header --url';
  const options = parseOptions(command.args, { takes });
  const [folder] = options.values('--output-dir');
  const put = (word: Word): void => found.file(command, folder === undefined ? word : within(folder, word));
  options.values('-o', '--output').forEach(put);
  found.file(command, options.values('-D', '--dump-header', '-c', '--cookie-jar'));
  if (options.has('-O', '--remote-name', '--remote-name-all')) options.operands.map(remoteName).forEach(put);
};

const wget: Writer = (command, found) => {
  const takes =
    '-O --output-document -P --directory-prefix -o --output-file -t -T --header --user-agent -U -i -Q -l';
  const options = parseOptions(command.args, { takes });
  if (options.has('--spider')) return;
  found.file(command, options.values('-o', '--output-file'));
  const named = options.values('-O', '--output-document');
  const [folder] = options.values('-P', '--directory-prefix');
  if (named.length > 0) found.file(command, named);
  else if (options.has('-r', '-m', '--mirror', '--recursive')) found.tree(command, folder ?? literal('.'));
  else {
    const names = options.operands.map(remoteName);
    found.file(command, folder === undefined ? names : names.map((name) => within(folder, name)));
  }
};

/** `tar xzf a.tgz` has its letters without a dash. */
const tar: Writer = (command, found) => {
  const [first, ...rest] = command.args;
  const bundled = first !== undefined && /^[a-zA-Z]+$/.test(first.text);
  const args = bundled ? [literal(`-${first.text}`), ...rest] : command.args;
  const options = parseOptions(args, {
    takes: '-f -C -T -X -b --file --directory --exclude --strip-components --transform',
  });
  const [folder] = options.values('-C', '--directory');
  if (options.has('-x', '--extract', '--get') && !options.has('-O', '--to-stdout')) {
    found.tree(command, folder ?? literal('.'));
  }
  if (options.has('-c', '-r', '-u', '--create', '--append'))
    found.file(command, options.values('-f', '--file'));
};

const unzip: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-d -x' });
  if (!options.has('-l', '-t', '-p', '-v', '-Z'))
    found.tree(command, options.values('-d')[0] ?? literal('.'));
};

const zip: Writer = (command, found) => {
  const [archive] = parseOptions(command.args, { takes: '-x -i -b -P' }).operands;
  if (archive !== undefined)
    found.file(
      command,
      mapWord(archive, (text) => (/\.\w+$/.test(text) ? text : `${text}.zip`)),
    );
};

/** `gzip f` leaves `f.gz` in its place, `gunzip f.gz` the other way round. */
function compress(ending: string, unpacks: boolean): Writer {
  return (command, found) => {
    const options = parseOptions(command.args, { takes: '-S -o' });
    if (options.has('-c', '--stdout', '-l', '-t', '--list', '--test')) return;
    const back = unpacks || options.has('-d', '--decompress');
    for (const word of options.operands) {
      const other = (text: string): string =>
        back ? text.replace(new RegExp(`\\${ending}$`), '') : text + ending;
      found.file(
        command,
        options.has('-k', '--keep') ? [mapWord(word, other)] : [word, mapWord(word, other)],
      );
    }
  };
}

const tsc: Writer = (command, found) => {
  const takes =
    '--outDir --outFile --declarationDir -p --project -t --target -m --module --lib --jsx --tsBuildInfoFile --rootDir';
  const options = parseOptions(command.args, { takes, oneDash: true });
  if (options.has('--init')) found.file(command, literal('tsconfig.json'));
  if (options.has('--noEmit')) return;
  found.tree(command, options.values('--outDir', '--declarationDir'));
  found.file(command, options.values('--outFile', '--tsBuildInfoFile'));
};

const protoc: Writer = (command, found) => {
  command.args.forEach((word, index) => {
    const match = /^--\w+_out(?:=(?:[^:]*:)?(.*))?$/s.exec(word.text);
    if (match === null) return;
    const next = command.args[index + 1];
    if (match[1] !== undefined) found.tree(command, literal(match[1]));
    else if (next !== undefined) found.tree(command, next);
  });
};

const keygen: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-f -t -b -C -N -P -m -q -R -F' });
  if (options.has('-l', '-y', '-F')) return;
  for (const key of options.values('-f')) {
    found.file(command, key);
    if (isKnown(key) && !options.has('-R'))
      found.file(
        command,
        mapWord(key, (text) => `${text}.pub`),
      );
  }
};

const SQLITE_QUIET =
  /^(?:(?:select|values|explain)\b(?!.*\b(?:writefile|edit|load_extension)\s*\()|pragma\s+(?:(?:\w+\.)?(?:table_x?info|index_(?:list|x?info)|foreign_key_(?:list|check)|integrity_check|quick_check)\b[^=]*|(?!wal_checkpoint|optimize|incremental_vacuum)\w+)$|\.(?:schema|fullschema|tables|dump|index|indexes|indices|headers?|mode|width|databases|dbinfo|stats|timer|nullvalue|separator|show|help|quit|exit)\b)/is;

/** By statements and the shell's own commands: a semicolon within a text makes it a write, to be safe. */
function onlyAsks(text: string): boolean {
  const parts = text.split(/[;\n]/).map((part) => part.trim());
  return parts.every((part) => part === '' || part.startsWith('--') || SQLITE_QUIET.test(part));
}

const sqlite: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-cmd -init -separator -nullvalue', oneDash: true });
  const [file, ...rest] = options.operands;
  if (file === undefined || options.has('-readonly') || /^file:.*[?&](?:mode=ro|immutable=1)/.test(file.text))
    return;
  const statements = [...rest, ...options.values('-cmd')];
  const piped = rest.length > 0 ? '' : textSeen(command.input);
  const texts = statements.map(({ text }) => text);
  const isTold = statements.every(isKnown) && piped !== undefined && options.values('-init').length === 0;
  const all = [...texts, piped ?? ''];
  if (isTold && all.some((text) => text.trim() !== '') && all.every(onlyAsks)) return;
  if (file.text !== ':memory:') found.file(command, databaseOf(file));
  for (const [, path = ''] of all.join('\n').matchAll(SQLITE_OPENS))
    found.file(command, databaseOf(literal(path)));
};

const SQLITE_OPENS = /(?:\battach\s+(?:database\s+)?|^\s*\.open\s+(?:--?\w+\s+)*)['"]?([^'"\s;]+)/gim;

/** `file:cox.db?mode=rw` */
function databaseOf(file: Word): Word {
  return mapWord(file, (text) => text.replace(/^file:(?:\/\/)?([^?]*).*$/s, '$1'));
}

const second: Writer = (command, found) => {
  const target = parseOptions(command.args, { takes: '-f -s -w' }).operands[1];
  if (target !== undefined) found.file(command, target);
};

const ESBUILD = { takes: '--format --platform --target', oneDash: true };

export const outputWriters: Readonly<Record<string, Writer>> = {
  curl,
  wget,
  tar,
  gtar: tar,
  bsdtar: tar,
  unzip,
  zip,
  gzip: compress('.gz', false),
  gunzip: compress('.gz', true),
  bzip2: compress('.bz2', false),
  bunzip2: compress('.bz2', true),
  xz: compress('.xz', false),
  unxz: compress('.xz', true),
  sort: option('-o --output', '', { takes: '-k -t -S -T --key --field-separator' }),
  uniq: second,
  tsc,
  protoc,
  esbuild: option('--outfile', '--outdir', ESBUILD),
  vite: option('', '--outDir'),
  rollup: option('-o --file', '-d --dir', { takes: '-c -f -i -p' }),
  swc: option('-o --out-file', '-d --out-dir'),
  babel: option('-o --out-file', '-d --out-dir'),
  openssl: option('-out -keyout', '', {
    oneDash: true,
    takes: '-in -inkey -subj -days -newkey -config -pass',
  }),
  gpg: option('-o --output', '', { takes: '-r --recipient -u' }),
  'ssh-keygen': keygen,
  sqlite3: sqlite,
  pandoc: option('-o --output', '', { takes: '-f -t --from --to' }),
  gcc: option('-o', '', { takes: '-I -L -D -x -include' }),
  cc: option('-o', '', { takes: '-I -L -D -x -include' }),
  'g++': option('-o', '', { takes: '-I -L -D -x -include' }),
  clang: option('-o', '', { takes: '-I -L -D -x -include' }),
  'clang++': option('-o', '', { takes: '-I -L -D -x -include' }),
  rustc: option('-o', '--out-dir', { takes: '-C --edition --crate-type --crate-name -L' }),
  pg_dump: option('-f --file', '', { takes: '-h -p -U -t -n -d -F' }),
};
