import type { Action } from '../domain/workdir/actions.ts';
import { Meanwhile, reasonOf, TaskFolder } from './task-folder.ts';
import { followUpText } from './task-text.ts';

export interface Applied {
  readonly done: readonly Action[];
  /** Why the others were not. What follows from one that was not done is not done either. */
  readonly left: readonly { readonly action: Action; readonly reason: string }[];
}

/** Does what was planned, each action whole or not at all. */
export class Applier {
  readonly #folder: TaskFolder;
  /** What was not done to them: nothing that follows from it is done either. */
  readonly #stuck = new Set<string>();

  constructor(root: string, texts: ReadonlyMap<string, string>) {
    this.#folder = new TaskFolder(root, texts);
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
    await this.#folder.sync();
    return { done, left };
  }

  async #one(action: Action): Promise<void> {
    switch (action.kind) {
      case 'move':
        return await this.#folder.move(action.from, action.to);
      case 'update':
        return await this.#folder.update(action.path, action.changes);
      case 'create':
        // Another pass may have made it, and moved it on, since we looked: then its parent says so.
        return await this.#folder.create(action.path, followUpText(action.follow_up), () =>
          this.#folder.expectUnchanged(action.parent),
        );
      case 'drop':
        return await this.#folder.drop(action.path, action.twin);
    }
  }
}

/** A follow-up is made for its parent: without the one there is nothing to say in the other. */
function idsOf(action: Action): string[] {
  return action.kind === 'create' ? [action.id, action.follow_up.previous_task] : [action.id];
}
