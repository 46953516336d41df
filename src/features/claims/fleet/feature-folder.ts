import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { limits } from '../../../kernel/limits.ts';
import { KeptFiles } from '../../../storage/cached-files.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import type { FileText } from '../../../storage/read-bounded.ts';
import type { ParsedFeature } from '../files/feature-file.ts';
import type { Feature } from '../routing/feature.ts';

/** A problem and the file it is in, relative to the workspace folder. */
export interface PlacedProblem extends FileProblem {
  readonly file: string;
}

export interface ReadFeatures {
  readonly features: readonly Feature[];
  readonly problems: readonly PlacedProblem[];
}

/**
 * Folders that a person moves a feature's file into. A feature there is known, for those that build on it, and
 * is not routed.
 */
const COMPLETED = ['completed', 'done'];
const SET_ASIDE = ['archived', 'archive', 'dismissed'];

/** A list of the features, not a feature itself; workspaces of other implementations have one. */
const INDEX = /^feature_index\.ya?ml$/;

/**
 * `features/**.yml` below a workspace folder. Unreadable files are reported; the rest counts. Of two files with
 * one feature the active one counts.
 */
export class FeatureFolder {
  readonly #folder: string;
  readonly #files: KeptFiles<ParsedFeature>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#files = new KeptFiles((path, text) => this.#parse(path, text));
  }

  async read(): Promise<ReadFeatures> {
    const problems: PlacedProblem[] = [];
    const found = new FeatureFiles(this.#folder, problems).list();
    this.#files.keepOnly(new Set(found.map(({ path }) => path)));
    const features = new Map<string, Feature>();
    const byPlace = Map.groupBy(found, ({ path }) => placeOf(fileName(this.#folder, path)) === undefined);
    for (const { path, stat } of [...(byPlace.get(true) ?? []), ...(byPlace.get(false) ?? [])]) {
      const parsed = await this.#files.get(path, stat);
      const file = fileName(this.#folder, path);
      if (!parsed.ok) {
        problems.push(...parsed.problems.map((problem) => ({ file, ...problem })));
        continue;
      }
      const { feature } = parsed;
      const other = features.get(feature.feature)?.file;
      const place = placeOf(file);
      const status = place === undefined || feature.status === 'converged' ? feature.status : place;
      if (other === undefined)
        features.set(feature.feature, { ...feature, status, touched_ms: stat.mtimeMs });
      // An older copy may have been put away.
      else if (place !== 'set_aside')
        problems.push({ file, line: 1, field: 'feature', reason: `${feature.feature} is in ${other} too` });
    }
    return { features: [...features.values()], problems };
  }

  async #parse(path: string, file: FileText): Promise<ParsedFeature> {
    if (!file.ok) return { ok: false, problems: [{ line: 1, field: 'file', reason: file.reason }] };
    // The parser is loaded only where there are features.
    const { parseFeature } = await import('../files/feature-file.ts');
    return await parseFeature(file.text, { file: fileName(this.#folder, path), touched_ms: 0 });
  }
}

/** What its folder says of a feature; undefined: it is active. */
function placeOf(file: string): 'converged' | 'set_aside' | undefined {
  const folders = file.split('/').slice(1, -1);
  if (folders.some((name) => SET_ASIDE.includes(name.toLowerCase()))) return 'set_aside';
  return folders.some((name) => COMPLETED.includes(name.toLowerCase())) ? 'converged' : undefined;
}

function fileName(folder: string, path: string): string {
  const name = relative(folder, path);
  return sep === '/' ? name : name.replaceAll(sep, '/');
}

interface Found {
  readonly path: string;
  readonly stat: Stats;
}

/** The walk: visits no folder twice, does not leave the workspace, and is bounded in depth and number. */
class FeatureFiles {
  readonly #folder: string;
  readonly #problems: PlacedProblem[];
  readonly #found: Found[] = [];

  constructor(folder: string, problems: PlacedProblem[]) {
    this.#folder = folder;
    this.#problems = problems;
  }

  list(): readonly Found[] {
    this.#walk(join(this.#folder, 'features'), 1);
    if (this.#found.length > limits.features_max) {
      const left_out = this.#found.length - limits.features_max;
      this.#complain(
        join(this.#folder, 'features'),
        `${left_out} files more than ${limits.features_max}: left out`,
      );
    }
    return this.#found.slice(0, limits.features_max);
  }

  #walk(folder: string, depth: number): void {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (!isNothing(error)) this.#complain(folder, 'can’t be read');
      return;
    }
    // The order within a folder differs between disks; of two files with the same feature the first counts.
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) {
        if (depth < limits.feature_folder_depth_max) this.#walk(path, depth + 1);
        else this.#complain(path, `deeper than ${limits.feature_folder_depth_max} folders: left out`);
      } else if (/\.ya?ml$/.test(entry.name) && !INDEX.test(entry.name)) this.#add(path, entry);
      else if (entry.isSymbolicLink() && this.#statOf(path)?.isDirectory())
        this.#complain(path, 'a link to a folder: not followed');
    }
  }

  #add(path: string, entry: Dirent): void {
    const stat = this.#statOf(path);
    if (stat === undefined) return;
    if (entry.isSymbolicLink() && !this.#isInside(path))
      this.#complain(path, 'a link out of the workspace: not followed');
    else if (!stat.isFile()) this.#complain(path, 'not a file');
    else if (stat.size > limits.fleet_file_bytes_max)
      this.#complain(path, `larger than ${limits.fleet_file_bytes_max} bytes`);
    else this.#found.push({ path, stat });
  }

  /** Removed since the folder was listed, or a dangling link: treated as absent. */
  #statOf(path: string): Stats | undefined {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch {
      this.#complain(path, 'can’t be read');
      return undefined;
    }
  }

  #isInside(path: string): boolean {
    try {
      const way = relative(realpathSync(this.#folder), realpathSync(path));
      return way !== '..' && !way.startsWith(`..${sep}`);
    } catch {
      return false;
    }
  }

  #complain(path: string, reason: string): void {
    this.#problems.push({ file: fileName(this.#folder, path), line: 1, field: 'file', reason });
  }
}

function isNothing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
