import { existsSync, readdirSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is mounted before a command starts, as the lines of an fstab(5), in their order. */
export interface MountList {
  readonly text: string;
  readonly mounts: number;
}

/**
 * A folder above a held file could be renamed and made anew, with another file in the held one's place. The kernel renames and removes no
 * folder that something is mounted on, by whichever way the folder is reached. A mount in the work tree would make it two file systems
 * (`git mv` from one to the other fails), so it is made in a second view of all files, which is then covered: no path leads there.
 */
export function mountList(
  held: Iterable<string>,
  isRoot: boolean,
  { top, empty }: { readonly top: string; readonly empty: string },
): MountList {
  const paths = [...held].sort();
  const names = foldersAbove(paths).map((name) => join(top, name));
  const lines = [
    line('/', top, 'rbind'),
    ...names.map((name) => line(name, name, 'rbind')),
    ...(isRoot ? waysOfRoot() : []),
    line(empty, top, 'rbind,ro'),
    ...paths.map((path) => line(path, path, 'rbind,ro')),
  ];
  return { text: lines.join(''), mounts: lines.length };
}

/** All folders on the way to these paths, the upper ones first. */
export function foldersAbove(paths: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/' && !found.has(folder); folder = dirname(folder))
      found.add(folder);
  return [...found].sort();
}

/** By a disk root could write what is in a file, and by these settings the kernel starts root's programs outside. */
function waysOfRoot(): string[] {
  const disks = readdirSync('/dev', { withFileTypes: true }).filter((entry) => entry.isBlockDevice());
  return [
    ...disks.map(({ name }) => line('/dev/null', join('/dev', name), 'rbind')),
    ...KERNEL_PROGRAMS.filter((path) => existsSync(path)).map((path) => line(path, path, 'rbind,ro')),
  ];
}

const KERNEL_PROGRAMS = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/fs/binfmt_misc',
  '/sys/kernel/uevent_helper',
];

function line(from: string, to: string, options: string): string {
  return `${escaped(from)} ${escaped(to)} none ${options} 0 0\n`;
}

function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

const READ_BYTES = 64 * 1024;

/** Where something is mounted, by a handle on a process's `mountinfo`. */
export function mountPoints(handle: number): Set<string> {
  const parts: Buffer[] = [];
  for (let at = 0, read = -1; read !== 0; at += read) {
    const part = Buffer.alloc(READ_BYTES);
    read = readSync(handle, part, 0, READ_BYTES, at);
    parts.push(part.subarray(0, read));
  }
  const lines = Buffer.concat(parts).toString().split('\n');
  return new Set(lines.map((text) => unescaped(text.split(' ')[4] ?? '')));
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
