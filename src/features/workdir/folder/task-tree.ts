import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../kernel/limits.ts';
import { readBounded } from '../../../storage/read-bounded.ts';
import { errorCode } from '../../../storage/real-path.ts';
import { AGENT_NAME, parseTask } from '../files/task-yaml.ts';
import {
  compare,
  isTaskName,
  stemOf,
  type TaskFile,
  type TreeProblem,
  taskPlaceOf,
  type WorkTree,
} from '../task-file.ts';

/** What a killed pass may leave beside the file that it was writing: `.x.yaml.4711.1.cox` */
const ASIDE = /^\..+\.(\d+)\.\d+\.cox$/;
const LINK = 'a link: not followed';
const REPORT_FOLDERS = ['', 'collaboration', 'logs'];
const READ_SHELVES = ['inbox', 'assigned', 'done', 'fridge'] as const;

export interface ReadTree extends WorkTree {
  /** As they were read. A change to a file first checks that it still has this text. */
  readonly texts: ReadonlyMap<string, string>;
  /** Half-written files, with the process that wrote them. */
  readonly asides: readonly Aside[];
}

export interface Aside {
  readonly path: string;
  readonly pid: number;
}

/**
 * All task files below a root. A file that can't be read is reported and the rest counts. Nothing outside of
 * the root is looked at. `wanted` are ids that the archive is searched for, under whatever name.
 */
export function readTree(root: string, wanted: ReadonlySet<string> = new Set()): ReadTree {
  return new TreeReader(root).read(wanted);
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
  readonly #asides: Aside[] = [];
  readonly #occupied = new Set<string>();
  #files: TaskFile[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  read(wanted: ReadonlySet<string>): ReadTree {
    const found = READ_SHELVES.flatMap((shelf) => this.#list(shelf, 1));
    for (const each of found) this.#read(each);
    const archived = this.#archive(wanted);
    const twins = this.#takeTwins(archived);
    const doubles = this.#setDoublesAside(archived);
    for (const folder of REPORT_FOLDERS) this.#entries(folder);
    return {
      agents: this.#agents(),
      files: this.#files,
      archived,
      known_follow_ups: this.#followUpsElsewhere(archived, doubles),
      occupied: this.#occupied,
      twins,
      problems: this.#problems.sort((a, b) => compare(a.file, b.file) || a.line - b.line),
      texts: this.#texts,
      asides: this.#asides,
    };
  }

  #agents(): string[] {
    return this.#entries('assigned')
      .filter((entry) => entry.isDirectory() && AGENT_NAME.test(entry.name))
      .map(({ name }) => name);
  }

  /** Sorted by name, whatever order the disk has. */
  #entries(folder: string): Dirent[] {
    const path = join(this.#root, folder);
    try {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
        this.#complain(folder, LINK);
        return [];
      }
      const entries = readdirSync(path, { withFileTypes: true });
      for (const { name } of entries) this.#noteAside(folder, name);
      return entries.filter(({ name }) => !name.startsWith('.')).sort((a, b) => compare(a.name, b.name));
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) this.#complain(folder, 'can’t be read');
      return [];
    }
  }

  #noteAside(folder: string, name: string): void {
    const [, pid] = ASIDE.exec(name) ?? [];
    const path = folder === '' ? name : `${folder}/${name}`;
    if (pid !== undefined) this.#asides.push({ path, pid: Number(pid) });
  }

  #list(folder: string, depth: number): Found[] {
    const found: Found[] = [];
    for (const entry of this.#entries(folder)) {
      const path = `${folder}/${entry.name}`;
      this.#occupied.add(path);
      if (entry.isSymbolicLink()) this.#complain(path, LINK);
      else if (entry.isDirectory()) {
        if (depth < limits.workdir_depth_max) found.push(...this.#list(path, depth + 1));
        else this.#complain(path, `deeper than ${limits.workdir_depth_max} folders: left out`);
      } else if (isTaskName(entry.name)) found.push(...this.#placed(path));
    }
    return found;
  }

  #placed(path: string): Found[] {
    const place = taskPlaceOf(path);
    if (place?.shelf === 'archive') return [];
    const isElsewhere = place?.shelf === 'assigned' && !AGENT_NAME.test(place.folder ?? '');
    if (place !== undefined && !isElsewhere) return [{ path, ...place, shelf: place.shelf }];
    this.#complain(path, 'expected in the folder of an agent');
    return [];
  }

  #read({ path, shelf, folder }: Found): void {
    if (this.#texts.size >= limits.workdir_files_max) {
      this.#complain(path, `more than ${limits.workdir_files_max} files: left out`);
      return;
    }
    const read = readBounded(join(this.#root, path), { links: false });
    if (!read.ok) {
      // It was moved since it was listed. But a name that is not valid text can never be opened, and a person
      // has to know.
      if (read.missing !== true || path.includes('\uFFFD')) this.#complain(path, read.reason);
      return;
    }
    const parsed = parseTask(read.text);
    this.#texts.set(path, read.text);
    this.#inodes.set(path, read.inode);
    if (!parsed.ok) {
      for (const problem of parsed.problems) this.#problems.push({ file: path, ...problem });
      return;
    }
    const { task, problems = [] } = parsed;
    const stem = stemOf(path);
    if (task.id !== stem && shelf !== 'done') {
      this.#problems.push({ file: path, line: 1, field: 'id', reason: `expected the file's name, ${stem}` });
      return;
    }
    this.#files.push({ path, shelf, folder, task });
    for (const problem of problems) this.#problems.push({ file: path, counts: true, ...problem });
  }

  /**
   * By id. A task in the archive is done, whatever its file says. Most files there are named after their id, so
   * the names are enough, except for those that are named after something else: they are read where a task
   * here has their name, and all are read when an id is looked for that no name is.
   */
  #archive(wanted: ReadonlySet<string>): Map<string, string> {
    this.#list('archive', 1);
    const paths = [...this.#occupied].filter((path) => path.startsWith('archive/') && isTaskName(path));
    const names = new Map(paths.map((path) => [stemOf(path), path]));
    for (const { path, task } of this.#files) {
      for (const name of new Set([task.id, stemOf(path)])) {
        const there = names.get(name);
        const id = there === undefined ? undefined : idIn(join(this.#root, there));
        if (there === undefined || id === undefined || id === name) continue;
        names.delete(name);
        names.set(id, there);
      }
    }
    const here = new Set(this.#files.map(({ task }) => task.id));
    const isMissing = (id: string) => !here.has(id) && !names.has(id);
    const needed = this.#files.flatMap(({ shelf, task }) => (shelf === 'inbox' ? task.dependencies : []));
    if (![...wanted, ...needed].some(isMissing) && !this.#isFollowUpOpen()) return names;
    for (const path of paths) {
      const id = idIn(join(this.#root, path));
      if (id !== undefined && !names.has(id)) names.set(id, path);
    }
    return names;
  }

  /** A new name will be given, which must not be that of any task. */
  #isFollowUpOpen(): boolean {
    return this.#files.some(
      ({ shelf, task }) =>
        shelf === 'done' && task.result?.next_agent !== undefined && task.follow_up === undefined,
    );
  }

  /**
   * Follow-ups among the tasks that are not in the plan: duplicates, and tasks in the archive. The latter are
   * read only if a parent does not name its follow-up itself, as in trees that another coordinator has kept.
   */
  #followUpsElsewhere(
    archived: ReadonlyMap<string, string>,
    doubles: Iterable<TaskFile>,
  ): Map<string, string> {
    const found = new Map<string, string>();
    for (const { task } of doubles)
      if (task.previous_task !== undefined) found.set(task.previous_task, task.id);
    if (!this.#isFollowUpOpen()) return found;
    for (const [name, path] of archived) {
      const read = readBounded(join(this.#root, path), { links: false });
      const parsed = read.ok ? parseTask(read.text) : undefined;
      const previous = parsed?.ok === true ? parsed.task.previous_task : undefined;
      const id = parsed?.ok === true ? parsed.task.id : name;
      if (previous !== undefined && !found.has(previous)) found.set(previous, id);
    }
    return found;
  }

  /**
   * One file under two names, as an interrupted move leaves it: the older name is removed. A copy that a
   * person has made is a different file, and stays. So does everything in the fridge, where we never put
   * anything.
   */
  #takeTwins(archived: ReadonlyMap<string, string>): (readonly [string, string])[] {
    const twins: (readonly [string, string])[] = [];
    const rank = ({ shelf }: TaskFile) => ['inbox', 'assigned', 'done'].indexOf(shelf);
    for (const [id, group] of Map.groupBy(this.#files, ({ task }) => task.id)) {
      const moved = group.filter(({ shelf }) => shelf !== 'fridge').sort((a, b) => rank(a) - rank(b));
      const last = moved.at(-1);
      const newer = archived.get(id) ?? last?.path;
      if (newer === undefined || (newer === last?.path && moved.length < 2)) continue;
      const inode = this.#inodes.get(newer) ?? this.#inodeOf(newer);
      for (const older of moved)
        if (
          older.path !== newer &&
          this.#inodes.get(older.path) === inode &&
          (newer !== last?.path || older.shelf !== last.shelf)
        )
          twins.push([older.path, newer]);
    }
    const dropped = new Set(twins.map(([older]) => older));
    this.#files = this.#files.filter(({ path }) => !dropped.has(path));
    return twins;
  }

  #inodeOf(path: string): string | undefined {
    const read = readBounded(join(this.#root, path), { links: false });
    return read.ok ? read.inode : undefined;
  }

  /** It can't be told which of them is meant. */
  #setDoublesAside(archived: ReadonlyMap<string, string>): Set<TaskFile> {
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
    return double;
  }

  #complain(file: string, reason: string): void {
    this.#problems.push({ file, line: 1, field: 'file', reason });
  }
}

const ID_LINE = /^id:[ ]*(["']?)([\w.:+@-]+)\1[ ]*(?:#.*)?\r?$/m;

/** Quickly where it stands on a line of its own, as in nearly all files. */
function idIn(path: string): string | undefined {
  const read = readBounded(path, { links: false });
  if (!read.ok) return undefined;
  const [, , id] = ID_LINE.exec(read.text) ?? [];
  if (id !== undefined) return id;
  const parsed = parseTask(read.text);
  return parsed.ok ? parsed.task.id : undefined;
}
