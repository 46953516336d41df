import {
  type Area,
  fileOfFolder,
  folderPlace,
  foldersAbove,
  isFolderPlace,
  overlap,
} from '../../kernel/area.ts';
import { artefactArea } from './task-artefacts.ts';
import { compare, type TaskFile } from './task-file.ts';

export interface Conflict {
  readonly artefact: string;
  /** Their ids, in order. */
  readonly tasks: readonly string[];
}

interface Entry {
  readonly id: string;
  readonly written: string;
  readonly area: Area;
}

/**
 * Which artefacts belong to which task. Files are found by name; only folders and patterns have to be
 * compared one by one, and there are few of those.
 */
export class ArtefactMap {
  readonly #files = new Map<string, Entry[]>();
  readonly #wide: Entry[] = [];
  /** By every folder above it, so that a folder finds what is below. */
  readonly #below = new Map<string, Entry[]>();

  add({ task }: TaskFile): void {
    for (const written of new Set(task.artefacts)) {
      const area = artefactArea(written);
      if (area === undefined) continue;
      const entry = { id: task.id, written, area };
      if (isFolderPlace(area.place)) this.#wide.push(entry);
      else push(this.#files, area.place, entry);
      for (const folder of foldersAbove(area.place)) push(this.#below, folder, entry);
    }
  }

  /** Entries of other tasks that overlap with one of the task's artefacts. */
  meeting({ task }: Pick<TaskFile, 'task'>): { readonly mine: string; readonly other: Entry }[] {
    return task.artefacts.flatMap((written) => {
      const area = artefactArea(written);
      if (area === undefined) return [];
      return this.#candidates(area)
        .filter(({ id, area: theirs }) => id !== task.id && meet(area, theirs))
        .map((other) => ({ mine: written, other }));
    });
  }

  #candidates({ place }: Area): Entry[] {
    const below = this.#below.get(isFolderPlace(place) ? place : folderPlace(place)) ?? [];
    // `docs`, without its slash, where another task is to change `docs/x.md`.
    const above = foldersAbove(place).flatMap((folder) => this.#files.get(fileOfFolder(folder) ?? '') ?? []);
    return [...new Set([...(this.#files.get(place) ?? []), ...below, ...above, ...this.#wide])];
  }
}

/**
 * Whether one file could be meant by both. A name that another task has something below is a folder, with or
 * without its slash.
 */
function meet(a: Area, b: Area): boolean {
  if (overlap(a, b)) return true;
  if (isFolderPlace(a.place) || isFolderPlace(b.place)) return false;
  return a.place.startsWith(folderPlace(b.place)) || b.place.startsWith(folderPlace(a.place));
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Tasks in progress that are about the same artefacts. [DIR-3] */
export function conflictsOf(working: readonly TaskFile[]): Conflict[] {
  const map = new ArtefactMap();
  for (const file of working) map.add(file);
  const found = new Map<string, Set<string>>();
  for (const file of working)
    for (const { mine, other } of map.meeting(file)) {
      // If a file and a pattern overlap, the conflict is about the file.
      const name = isNarrower(mine, other.written) ? mine : other.written;
      const ids = found.get(name) ?? new Set();
      found.set(name, ids.add(file.task.id).add(other.id));
    }
  return [...found]
    .map(([artefact, ids]) => ({ artefact, tasks: [...ids].sort(compare) }))
    .sort((a, b) => compare(a.artefact, b.artefact));
}

function isNarrower(one: string, other: string): boolean {
  const width = (text: string) => (/[*?]/.test(text) ? 2 : text.endsWith('/') ? 1 : 0);
  return width(one) - width(other) < 0 || (width(one) === width(other) && compare(one, other) <= 0);
}
