import { lstatSync, unlinkSync } from 'node:fs';
import { link, lstat, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Action } from '../domain/workdir/actions.ts';
import { keepFile } from '../places/keep-file.ts';
import { makeFolder, syncFolder, writeLasting } from '../places/lasting.ts';
import { PlaceProblem } from '../places/place.ts';
import { readBounded } from '../places/read-bounded.ts';
import { errorCode, realPath, unlessMissing } from '../places/real-path.ts';
import { followUpText, rewriteTask } from './task-text.ts';

/** Somebody else was quicker: what was planned is not what is there any more. The next pass looks at it anew. */
class Meanwhile extends Error {}

export interface Applied {
  readonly done: readonly Action[];
  /** Why the others were not. What follows from one that was not done is not done either. */
  readonly left: readonly { readonly action: Action; readonly reason: string }[];
}

/**
 * Does what was planned, each action whole or not at all. A file is changed or moved only as long as it says what it said when the
 * plan was made: a person's edit is never written over.
 */
export class Applier {
  readonly #root: string;
  readonly #texts: Map<string, string>;
  /** Their names are put on the disk together. */
  readonly #folders = new Set<string>();
  /** What was not done to them: nothing that follows from it is done either. */
  readonly #stuck = new Set<string>();
  #count = 0;

  constructor(root: string, texts: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#texts = new Map(texts);
  }

  async apply(actions: readonly Action[]): Promise<Applied> {
    const done: Action[] = [];
    const left: { action: Action; reason: string }[] = [];
    for (const action of actions) {
      try {
        if (idsOf(action).some((id) => this.#stuck.has(id)))
          throw new Meanwhile('what comes before it was not done');
        await this.#one(action);
        done.push(action);
      } catch (error) {
        for (const id of idsOf(action)) this.#stuck.add(id);
        left.push({ action, reason: reasonOf(error) });
      }
    }
    for (const folder of this.#folders) await unlessMissing(syncFolder(folder));
    this.#folders.clear();
    return { done, left };
  }

  async #one(action: Action): Promise<void> {
    switch (action.kind) {
      case 'move':
        return await this.#move(action.from, action.to);
      case 'update':
        return await this.#update(action);
      case 'create':
        return await this.#create(action);
      case 'drop':
        return await this.#drop(action.path, action.twin);
    }
  }

  async #path(path: string): Promise<string> {
    const real = await realPath(this.#root, path);
    this.#folders.add(dirname(real));
    return real;
  }

  async #move(from: string, to: string): Promise<void> {
    const [source, target] = [await this.#path(from), await this.#path(to)];
    this.#expectUnchanged(from, source);
    // Only the month may be missing: an agent's folder that is gone was taken away by somebody.
    if (to.startsWith('archive/')) await makeFolder(dirname(target));
    await moveNew(source, target);
    const text = this.#texts.get(from);
    this.#texts.delete(from);
    if (text !== undefined) this.#texts.set(to, text);
  }

  #expectUnchanged(path: string, real: string): void {
    const now = readBounded(real, { links: false });
    if (!now.ok) throw new Meanwhile(now.reason);
    if (now.text !== this.#texts.get(path)) throw new Meanwhile('it was changed meanwhile');
  }

  async #update({ path, changes }: Extract<Action, { kind: 'update' }>): Promise<void> {
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

  async #create({ path, parent, follow_up }: Extract<Action, { kind: 'create' }>): Promise<void> {
    const [target, source] = [await this.#path(path), await this.#path(parent)];
    const text = followUpText(follow_up);
    this.#count += 1;
    const aside = join(
      dirname(target),
      `.${basename(target).slice(0, 100)}.${process.pid}.${this.#count}.cox`,
    );
    try {
      await makeFolder(dirname(target));
      await writeLasting(aside, Buffer.from(text), 0o644);
      // Another pass may have made it, and moved it on, since we looked: then its parent says so.
      this.#expectUnchanged(parent, source);
      await moveNew(aside, target);
    } finally {
      await rm(aside, { force: true });
    }
    this.#texts.set(path, text);
  }

  /** Of two names of one file, one may go. */
  async #drop(path: string, twin: string): Promise<void> {
    const [one, other] = [await this.#path(path), await this.#path(twin)];
    const [a, b] = [readBounded(one, { links: false }), readBounded(other, { links: false })];
    if (!a.ok || !b.ok || a.inode !== b.inode || a.text !== b.text)
      throw new Meanwhile('they are not the same any more');
    await unlink(one);
    this.#texts.delete(path);
  }
}

/** Never in the place of another file: `rename` would write over it. Where a disk knows no second names, it is looked first. */
async function moveNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') throw new Meanwhile(`${basename(to)} is there already`);
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    if ((await unlessMissing(lstat(to))) !== undefined)
      throw new Meanwhile(`${basename(to)} is there already`);
    await rename(from, to);
    return;
  }
  // Killed here, the file has two names; the next pass takes the older one away.
  const [old, now] = [lstatSync(from, { throwIfNoEntry: false }), lstatSync(to, { throwIfNoEntry: false })];
  // Saved by an editor at this very moment: that is another file, and ours is in the way of it.
  if (old !== undefined && now !== undefined && (old.ino !== now.ino || old.dev !== now.dev)) {
    unlinkSync(to);
    throw new Meanwhile('it was changed meanwhile');
  }
  unlinkSync(from);
}

/** A follow-up is made for its parent: without the one there is nothing to say in the other. */
function idsOf(action: Action): string[] {
  return action.kind === 'create' ? [action.id, action.follow_up.previous_task] : [action.id];
}

function reasonOf(error: unknown): string {
  if (error instanceof Meanwhile || error instanceof PlaceProblem) return error.message;
  const code = errorCode(error);
  if (code === 'ENOENT') return 'it is not there any more';
  if (code !== '') return `can’t be written (${code})`;
  throw error;
}
