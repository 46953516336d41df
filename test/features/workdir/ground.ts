// A repository with a work directory in it, and passes over it at chosen moments.
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Applier } from '../../../src/features/workdir/folder/apply.ts';
import { coordinate, type PassOptions, type PassResult } from '../../../src/features/workdir/folder/pass.ts';
import { type ReadTree, readTree } from '../../../src/features/workdir/folder/task-tree.ts';
import { type PassPlan, plan } from '../../../src/features/workdir/plan-pass.ts';
import { DEFAULT_WORKDIR, type WorkdirSettings } from '../../../src/features/workdir/workdir-settings.ts';

export const NOW_MS = Date.UTC(2026, 2, 10, 12, 0, 0);

/** In memory where there is such a place: a pass waits for the disk after every file, and these tests are about something else. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Two agents, all shelves. */
const SHELVES = ['inbox', 'assigned/ann', 'assigned/bob', 'done', 'fridge'];

export class Ground implements Disposable {
  /** The repository. */
  readonly top: string;
  /** The work directory. */
  readonly root: string;
  settings: WorkdirSettings = DEFAULT_WORKDIR;
  now_ms = NOW_MS;

  constructor(files: Readonly<Record<string, string>> = {}, root = 'work', place = PLACE) {
    this.top = realpathSync(mkdtempSync(join(place, 'cox-workdir-')));
    this.root = join(this.top, root);
    for (const shelf of SHELVES) mkdirSync(join(this.root, shelf), { recursive: true });
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  at(path: string): string {
    return join(this.root, path);
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  has(path: string): boolean {
    return existsSync(this.at(path));
  }

  /** As a person does it. */
  move(from: string, to: string): void {
    mkdirSync(dirname(this.at(to)), { recursive: true });
    renameSync(this.at(from), this.at(to));
  }

  remove(path: string): void {
    rmSync(this.at(path), { recursive: true });
  }

  pass(options: Partial<PassOptions> = {}): Promise<PassResult> {
    return coordinate({ root: this.root, settings: this.settings, now_ms: this.now_ms, ...options });
  }

  tree(): ReadTree {
    return readTree(this.root);
  }

  /** What a pass is about to do, and the one who does it. */
  prepare(): { readonly planned: PassPlan; readonly applier: Applier } {
    const tree = this.tree();
    return {
      planned: plan(tree, this.now_ms, this.settings),
      applier: new Applier(this.root, tree.texts),
    };
  }

  /** Every name below a folder of the repository, with what it holds. */
  contents(below = 'work'): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of (readdirSync(join(this.top, below), { recursive: true }) as string[]).sort()) {
      const path = join(this.top, below, name);
      const stat = lstatSync(path);
      if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
      else if (stat.isFile()) found[name] = readFileSync(path, 'latin1');
      else found[name] = stat.isDirectory() ? '/' : 'special';
    }
    return found;
  }

  /** With inode and time of change: a file that was written anew with the same text is another one. */
  fingerprint(below = 'work'): string {
    const hash = createHash('sha256');
    for (const [name, text] of Object.entries(this.contents(below))) {
      const { ino, mtimeMs, mode } = lstatSync(join(this.top, below, name));
      hash.update(JSON.stringify([name, text, text === '/' ? 0 : ino, text === '/' ? 0 : mtimeMs, mode]));
    }
    return hash.digest('hex');
  }

  [Symbol.dispose](): void {
    rmSync(this.top, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A task as people write it. */
export function task(id: string, over: Readonly<Record<string, string>> = {}, rest = ''): string {
  const fields = { id, agent: 'ann', status: 'new', artefacts: '[docs/x.md]', ...over };
  return `${Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}\n`)
    .join('')}${rest}`;
}

export const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC)/g;
