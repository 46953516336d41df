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
 * (`git mv` from one to the other fails), so it is made in another view of all files than the command's own. That is a copy of all mounts on
 * the root of the view that was there, as the root of a system lies on that of its initramfs: once it is the command's root, no path leads
 * below it, the command's `mountinfo` shows one root, and sandboxes can be set up in it. From below it is entered by `/..`.
 */
export function mountList(held: Iterable<string>, isRoot: boolean): MountList {
  const paths = [...held].sort();
  const lines = [
    // `mount` takes what it finds in `mountinfo`, the root by its own name, for done.
    line('/', '/.', 'rbind'),
    ...foldersAbove(paths).map((name) => line(name, name, 'rbind')),
    ...(isRoot ? waysOfRoot() : []),
    ...paths.map((path) => line(inOwn(path), inOwn(path), 'rbind,ro')),
  ];
  return { text: lines.join(''), mounts: lines.length };
}

/** A path in the command's own view, as it is reached from the one below. */
function inOwn(path: string): string {
  return `/..${path}`;
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
    ...disks.map(({ name }) => line('/dev/null', inOwn(join('/dev', name)), 'rbind')),
    ...KERNEL_PROGRAMS.filter((path) => existsSync(path)).map((path) =>
      line(inOwn(path), inOwn(path), 'rbind,ro'),
    ),
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

interface Mounted {
  /** Below the command's own view. */
  readonly names: ReadonlySet<string>;
  /** In that. */
  readonly held: ReadonlySet<string>;
}

/** Where something is mounted in both views, by a handle on a process's `mountinfo` that was opened in the lower one. */
export function mountPoints(handle: number): Mounted {
  const parts: Buffer[] = [];
  for (let at = 0, read = -1; read !== 0; at += read) {
    const part = Buffer.alloc(READ_BYTES);
    read = readSync(handle, part, 0, READ_BYTES, at);
    parts.push(part.subarray(0, read));
  }
  const text = Buffer.concat(parts).toString().trim();
  const mounts = text.split('\n').map((each) => {
    const [id = '', parent = '', , , point = ''] = each.split(' ');
    return { id, parent, point: unescaped(point) };
  });
  const roots = mounts.filter(({ point }) => point === '/');
  const own = roots.find(({ id }) => !roots.some(({ parent }) => parent === id))?.id;
  const parents = new Map(mounts.map(({ id, parent }) => [id, parent]));
  const isOwn = (id: string | undefined): boolean =>
    id !== undefined && (id === own || isOwn(parents.get(id)));
  const points = (own: boolean) =>
    new Set(mounts.filter(({ id }) => isOwn(id) === own).map(({ point }) => point));
  return { names: points(false), held: points(true) };
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
