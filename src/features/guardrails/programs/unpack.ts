import { literal, type Word, within } from '../../../command-analysis/shell/word.ts';
import { absolute, isMachineFile } from '../known-places.ts';
import { type Check, type Hit, type Run, readOptions, theme } from '../pattern.ts';
import { RSYNC_TAKES } from './deletion.ts';

const PATTERNS = {
  'unpack-over-system': {
    category: 'overwrite',
    operation: 'unpack_over_system',
    reason: 'Whatever the archive holds replaces the files of the machine.',
    instead: 'Unpack it into a new folder and look at it there.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** A folder whose contents the machine runs from. */
const isMachine = (path: string): boolean =>
  /^(?:\/|\/(?:etc|boot|s?bin|lib\d*|usr|usr\/(?:s?bin|lib\d*)|var|System|Library))$/.test(path) ||
  isMachineFile(path);

/** Judges where an archive is unpacked; undefined: where the command runs. */
function into(run: Run, folder: Word | undefined, hit: Hit<Id>): void {
  const { command } = run;
  const { through } = command;
  // A container and a new root have files of their own; another machine is as good as this one.
  if (through.includes('chroot') || (command.elsewhere === true && !through.includes('ssh'))) return;
  const path = absolute(command, folder ?? literal('.'), run.place);
  if (path !== undefined && isMachine(path.replace(/(?<=.)\/+$/, '')))
    hit('unpack-over-system', { matched: `${run.name} … ${path}` });
}

const TAR_TAKES =
  '-f -C -b -T -X -g -V -L -F -N -K -I -H --file --directory --strip-components --exclude --transform';
const TAR_LONGS = '--extract --get --directory --absolute-names --to-stdout --list --file';

/** `xCf / x.tar`: each letter that takes a value finds it in the words that follow, in order. */
function withoutBundle(args: readonly Word[]): readonly Word[] {
  const [bundle, ...rest] = args;
  if (bundle === undefined || !/^[a-zA-Z]+$/.test(bundle.text)) return args;
  const takes = new Set(TAR_TAKES.split(' '));
  const split = [...bundle.text].flatMap((letter) => {
    const option = literal(`-${letter}`);
    const value = takes.has(option.text) ? rest.shift() : undefined;
    return value === undefined ? [option] : [option, value];
  });
  return [...split, ...rest];
}

const tar: Check<Id> = (run, hit) => {
  const { has, values } = readOptions(withoutBundle(run.args), TAR_LONGS, { takes: TAR_TAKES });
  if (!has('-x', '--extract', '--get') || has('-O', '--to-stdout')) return;
  if (has('-P', '--absolute-names', '--absolute-paths')) hit('unpack-over-system');
  let folder: Word | undefined;
  for (const next of values('-C', '--directory')) folder = folder === undefined ? next : within(folder, next);
  into(run, folder, hit);
};

const unzip: Check<Id> = (run, hit) => {
  const { has, values } = readOptions(run.args, '', { takes: '-d -P' });
  if (!has('-l', '-t', '-p', '-v', '-Z', '-c', '-z')) into(run, values('-d')[0], hit);
};

const cpio: Check<Id> = (run, hit) => {
  const { has, values, operands } = readOptions(run.args, '--extract --directory --list --pass-through', {
    takes: '-D --directory -F -I -E --file --pattern-file -R --owner -H --format -C',
  });
  if (has('-t', '--list')) return;
  const folder = values('-D', '--directory')[0];
  if (has('-p', '--pass-through')) into(run, operands.at(-1), hit);
  else if (has('-i', '--extract')) into(run, folder, hit);
};

/** The folder after the package: `dpkg -x PACKAGE FOLDER`. */
const dpkg: Check<Id> = (run, hit) => {
  const at = run.texts.findIndex((text) => /^(?:-[xXR]|--extract|--vextract|--raw-extract)$/.test(text));
  if (at !== -1 && run.args[at + 2] !== undefined) into(run, run.args[at + 2], hit);
};

/** `7z x ARCHIVE -oFOLDER`, `unrar x ARCHIVE FOLDER/`. */
const byVerb: Check<Id> = (run, hit) => {
  const words = run.args.filter(({ text }) => !/^-/.test(text));
  if (!/^[xe]$/.test(words[0]?.text ?? '')) return;
  const given = run.args.find(({ text }) => /^-o./.test(text) && !/^-o[+-]$/.test(text));
  const last = words.length > 2 && words.at(-1)?.text.endsWith('/') ? words.at(-1) : undefined;
  into(run, given === undefined ? last : literal(given.text.slice(2)), hit);
};

const pax: Check<Id> = (run, hit) => {
  const { has, values, operands } = readOptions(run.args, '', { takes: '-f -s -x -o -p -b -T -E -G -U -B' });
  if (!has('-r')) return;
  // `-s ',^,/,'` puts a slash before every name.
  if (values('-s').some(({ text }) => /^(.)\^?\1\//.test(text))) hit('unpack-over-system');
  else into(run, has('-w') ? operands.at(-1) : undefined, hit);
};

/** A whole tree over another: `rsync -a rootfs/ /`. */
const synced: Check<Id> = (run, hit) => {
  const { operands, has } = readOptions(run.args, '--dry-run', { takes: RSYNC_TAKES });
  const target = operands.at(-1);
  if (operands.length > 1 && target?.text.startsWith('/') && !has('-n', '--dry-run')) into(run, target, hit);
};

/** `python3 -m tarfile -e ARCHIVE FOLDER`; the shell's reader makes the module the program. */
const byModule: Check<Id> = (run, hit) => {
  if (/^(?:-e|--extract)$/.test(run.texts[0] ?? '')) into(run, run.args[2], hit);
};

export const unpack = theme(PATTERNS, {
  'tar gtar bsdtar': tar,
  'unzip bsdunzip': unzip,
  cpio,
  'dpkg dpkg-deb': dpkg,
  '7z 7za 7zr 7zz rar unrar': byVerb,
  unsquashfs: (run, hit) => {
    const { values } = readOptions(run.args, '', { takes: '-d -dest -p -processors', oneDash: true });
    const [folder] = values('-d', '-dest');
    if (folder !== undefined) into(run, folder, hit);
  },
  pax,
  rsync: synced,
  'cp gcp': (run, hit) => {
    const { operands } = readOptions(run.args, '', { takes: '-t -S' });
    const whole = operands.slice(0, -1).some(({ text, glob }) => glob || /(?:^|\/)\.$/.test(text));
    if (whole && operands.at(-1)?.text === '/') into(run, operands.at(-1), hit);
  },
  'tarfile zipfile': byModule,
});
