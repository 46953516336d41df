import { createHash } from 'node:crypto';
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  placeOf,
  type TaskFile,
  type TreeProblem,
  type WorkTree,
} from '../domain/workdir/task-file.ts';
import { limits } from '../kernel/limits.ts';
import { readBounded } from '../places/read-bounded.ts';
import { errorCode } from '../places/real-path.ts';
import { AGENT_NAME, parseTask } from '../policy/workdir/task-yaml.ts';

const YAML_NAME = /\.ya?ml$/;
const READ_SHELVES = ['inbox', 'assigned', 'done', 'fridge'] as const;

export interface ReadTree extends WorkTree {
  /** As they were read: whoever changes one makes sure that it is still this. */
  readonly texts: ReadonlyMap<string, string>;
}

/** All task files below a root. What can't be read is told, the rest counts; nothing outside of the root is looked at. */
export function readTree(root: string): ReadTree {
  return new TreeReader(root).read();
}

interface Found {
  readonly path: string;
  readonly shelf: (typeof READ_SHELVES)[number];
  readonly folder?: string | undefined;
}

class TreeReader {
  readonly #root: string;
  readonly #problems: TreeProblem[] = [];
  readonly #texts = new Map<string, string>();
  readonly #inodes = new Map<string, string>();
  readonly #occupied = new Set<string>();
  #files: TaskFile[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  read(): ReadTree {
    const found = READ_SHELVES.flatMap((shelf) => this.#list(shelf, 1));
    for (const each of found) this.#read(each);
    const archived = this.#archive();
    const twins = this.#takeTwins();
    this.#setDoublesAside(archived);
    return {
      agents: this.#agents(),
      files: this.#files,
      archived,
      archived_follow_ups: this.#archivedFollowUps(archived),
      occupied: this.#occupied,
      twins,
      problems: this.#problems.sort((a, b) => compare(a.file, b.file) || a.line - b.line),
      texts: this.#texts,
    };
  }

  #agents(): string[] {
    return this.#entries('assigned')
      .filter((entry) => entry.isDirectory() && AGENT_NAME.test(entry.name))
      .map(({ name }) => name);
  }

  /** In the order of their names, whatever the disk's is. */
  #entries(folder: string): Dirent[] {
    try {
      const entries = readdirSync(join(this.#root, folder), { withFileTypes: true });
      return entries.filter(({ name }) => !name.startsWith('.')).sort((a, b) => compare(a.name, b.name));
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) this.#complain(folder, 'can’t be read');
      return [];
    }
  }

  #list(folder: string, depth: number): Found[] {
    const found: Found[] = [];
    for (const entry of this.#entries(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) this.#complain(path, 'a link: not followed');
      else if (entry.isDirectory()) {
        if (depth < limits.workdir_depth_max) found.push(...this.#list(path, depth + 1));
        else this.#complain(path, `deeper than ${limits.workdir_depth_max} folders: left out`);
      } else if (YAML_NAME.test(entry.name)) {
        this.#occupied.add(path);
        found.push(...this.#placed(path));
      }
    }
    return found;
  }

  #placed(path: string): Found[] {
    const place = placeOf(path);
    if (place !== undefined && place.shelf !== 'archive') return [{ path, ...place, shelf: place.shelf }];
    if (place === undefined) this.#complain(path, 'expected in the folder of an agent');
    return [];
  }

  #read({ path, shelf, folder }: Found): void {
    if (this.#texts.size >= limits.workdir_files_max) {
      this.#complain(path, `more than ${limits.workdir_files_max} files: left out`);
      return;
    }
    const read = readBounded(join(this.#root, path), { links: false });
    if (!read.ok) {
      this.#complain(path, read.reason);
      return;
    }
    const parsed = parseTask(read.text);
    this.#texts.set(path, read.text);
    this.#inodes.set(path, read.inode);
    if (!parsed.ok) {
      for (const problem of parsed.problems) this.#problems.push({ file: path, ...problem });
      return;
    }
    const { task } = parsed;
    const stem = path.slice(path.lastIndexOf('/') + 1).replace(YAML_NAME, '');
    if (task.id !== stem && shelf !== 'done') {
      this.#problems.push({ file: path, line: 1, field: 'id', reason: `expected the file's name, ${stem}` });
      return;
    }
    this.#files.push({ path, shelf, folder, task });
  }

  /** Names only: a task in the archive is done, whatever stands in it. */
  #archive(): Map<string, string> {
    this.#list('archive', 1);
    const names = new Map<string, string>();
    for (const path of this.#occupied)
      if (path.startsWith('archive/'))
        names.set(path.slice(path.lastIndexOf('/') + 1).replace(YAML_NAME, ''), path);
    return names;
  }

  /** Only where a parent does not say itself what follows it: as in trees that another coordinator has kept. */
  #archivedFollowUps(archived: ReadonlyMap<string, string>): Map<string, string> {
    const found = new Map<string, string>();
    const isOpen = this.#files.some(
      ({ shelf, task }) =>
        shelf === 'done' && task.result?.next_agent !== undefined && task.follow_up === undefined,
    );
    if (!isOpen) return found;
    for (const [id, path] of archived) {
      const read = readBounded(join(this.#root, path), { links: false });
      const parsed = read.ok ? parseTask(read.text) : undefined;
      const previous = parsed?.ok === true ? parsed.task.previous_task : undefined;
      if (previous !== undefined && !found.has(previous)) found.set(previous, id);
    }
    return found;
  }

  /** One id on two shelves with the same contents: a move that was cut short between its two names, or a copy. */
  #takeTwins(): (readonly [string, string])[] {
    const twins: (readonly [string, string])[] = [];
    const rank = ({ shelf }: TaskFile) => ['fridge', 'inbox', 'assigned', 'done'].indexOf(shelf);
    for (const group of Map.groupBy(this.#files, ({ task }) => task.id).values()) {
      if (group.length !== 2) continue;
      const [older, newer] = group.sort((a, b) => rank(a) - rank(b));
      if (older === undefined || newer === undefined || older.shelf === newer.shelf) continue;
      const isOne =
        this.#inodes.get(older.path) === this.#inodes.get(newer.path) ||
        digest(this.#texts.get(older.path)) === digest(this.#texts.get(newer.path));
      if (isOne) twins.push([older.path, newer.path]);
    }
    const dropped = new Set(twins.map(([older]) => older));
    this.#files = this.#files.filter(({ path }) => !dropped.has(path));
    return twins;
  }

  /** Nobody can say which of them is meant. */
  #setDoublesAside(archived: ReadonlyMap<string, string>): void {
    const double = new Set<TaskFile>();
    for (const [id, group] of Map.groupBy(this.#files, ({ task }) => task.id)) {
      const places = [...group.map(({ path }) => path), ...[archived.get(id) ?? []].flat()];
      if (places.length < 2) continue;
      for (const file of group) {
        double.add(file);
        const others = places.filter((path) => path !== file.path);
        this.#problems.push({
          file: file.path,
          line: 1,
          field: 'id',
          reason: `${id} is in ${others.join(', ')} too`,
        });
      }
    }
    this.#files = this.#files.filter((file) => !double.has(file));
  }

  #complain(file: string, reason: string): void {
    this.#problems.push({ file, line: 1, field: 'file', reason });
  }
}

function digest(text: string | undefined): string {
  return createHash('sha256')
    .update(text ?? '')
    .digest('hex');
}
