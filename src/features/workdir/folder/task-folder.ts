import { linkSync, lstatSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keepFile } from '../../../storage/keep-file.ts';
import { makeFolder, syncFolder, writeLasting } from '../../../storage/lasting.ts';
import { readBounded } from '../../../storage/read-bounded.ts';
import { errorCode, lstatIfThere, realPath, unlessMissing } from '../../../storage/real-path.ts';
import { PlaceProblem } from '../../../storage/storage-place.ts';
import { rewriteTask, type TextChanges } from './task-text.ts';

/** Another process was faster: the file is no longer what the change was meant for. The caller has to read again. */
export class Meanwhile extends Error {}

let count = 0;

/**
 * The task files of a root as they were read. Each change is made completely or not at all. A file is changed
 * or moved only if it still has the contents that were read: a person's edit is never overwritten.
 */
export class TaskFolder {
  readonly #root: string;
  readonly #texts: Map<string, string>;
  /** Folders with changed names, which are synced to the disk together. */
  readonly #folders = new Set<string>();

  constructor(root: string, texts: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#texts = new Map(texts);
  }

  async move(from: string, to: string): Promise<void> {
    const [source, target] = [await this.#path(from), await this.#path(to)];
    await this.expectUnchanged(from, source);
    // If an agent's folder is gone, it was removed on purpose.
    if (!to.startsWith('assigned/')) await makeFolder(dirname(target));
    moveNew(source, target);
    const text = this.#texts.get(from);
    this.#texts.delete(from);
    if (text !== undefined) this.#texts.set(to, text);
  }

  /** Throws if its contents have changed, or it is not there. */
  async expectUnchanged(path: string, real?: string): Promise<void> {
    const now = readBounded(real ?? (await this.#path(path)), { links: false });
    if (!now.ok) throw new Meanwhile(now.reason);
    if (now.text !== this.#texts.get(path)) throw new Meanwhile('it was changed meanwhile');
  }

  async update(path: string, changes: TextChanges): Promise<void> {
    let problem = 'it was changed meanwhile';
    let text: string | undefined;
    const wasWritten = await keepFile(
      this.#root,
      path,
      (now) => {
        if (now === undefined || now !== this.#texts.get(path)) return undefined;
        const rewritten = rewriteTask(now, changes);
        if ('problem' in rewritten) problem = rewritten.problem;
        else text = rewritten.text;
        return text;
      },
      (folder) => void this.#folders.add(folder),
    );
    if (text === undefined) throw new Meanwhile(problem);
    if (!wasWritten && text !== this.#texts.get(path)) throw new Meanwhile(problem);
    this.#texts.set(path, text);
  }

  /** `agreed` is called when everything but the name is on the disk. If it throws, nothing is left behind. */
  async create(path: string, text: string, agreed?: () => Promise<void>): Promise<void> {
    const target = await this.#path(path);
    count += 1;
    const aside = join(dirname(target), `.${basename(target).slice(0, 100)}.${process.pid}.${count}.cox`);
    try {
      await makeFolder(dirname(target));
      await writeLasting(aside, Buffer.from(text), 0o644);
      await agreed?.();
      moveNew(aside, target);
    } finally {
      rmSync(aside, { force: true });
    }
    this.#texts.set(path, text);
  }

  /** Removes one of two names of the same file. */
  async drop(path: string, twin: string): Promise<void> {
    const [one, other] = [await this.#path(path), await this.#path(twin)];
    const [a, b] = [readBounded(one, { links: false }), readBounded(other, { links: false })];
    if (!a.ok || !b.ok || a.inode !== b.inode || a.text !== b.text)
      throw new Meanwhile('they are not the same any more');
    unlinkSync(one);
    this.#texts.delete(path);
  }

  /** Makes sure that all names are on the disk. */
  async sync(): Promise<void> {
    for (const folder of this.#folders) await unlessMissing(syncFolder(folder));
    this.#folders.clear();
  }

  async #path(path: string): Promise<string> {
    const real = await realPath(this.#root, path);
    this.#folders.add(dirname(real));
    return real;
  }
}

/** Never replaces another file, as `rename` would. If the disk has no hard links, it checks first. */
function moveNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') throw new Meanwhile(`${basename(to)} is there already`);
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    if (lstatIfThere(to) !== undefined) throw new Meanwhile(`${basename(to)} is there already`);
    renameSync(from, to);
    return;
  }
  // If the process is killed here, the file has two names; the next pass removes the older one.
  const [old, now] = [lstatSync(from, { throwIfNoEntry: false }), lstatSync(to, { throwIfNoEntry: false })];
  // An editor saved the file at this very moment. That is a different file, and ours is in its way.
  if (old !== undefined && now !== undefined && (old.ino !== now.ino || old.dev !== now.dev)) {
    unlinkSync(to);
    throw new Meanwhile('it was changed meanwhile');
  }
  unlinkSync(from);
}

/** Why a change was not made, for the caller. Unexpected errors are thrown. */
export function reasonOf(error: unknown): string {
  if (error instanceof Meanwhile || error instanceof PlaceProblem) return error.message;
  const code = errorCode(error);
  if (code === 'ENOENT') return 'it is not there any more';
  if (code !== '') return `can’t be written (${code})`;
  throw error;
}
