import { inLanes } from '../../../kernel/lanes.ts';
import type { TaskAction } from '../task-actions.ts';
import { Meanwhile, reasonOf, TaskFolder } from './task-folder.ts';
import { followUpText } from './task-text.ts';

const LANES = 8;

export interface Applied {
  readonly done: readonly TaskAction[];
  /** Why the others were not. What follows from one that was not done is not done either. */
  readonly left: readonly { readonly action: TaskAction; readonly reason: string }[];
}

/** Carries out the plan. Each action is done completely or not at all. */
export class Applier {
  readonly #folder: TaskFolder;
  /** Tasks with an action that was not done. Nothing that follows from it is done either. */
  readonly #stuck = new Set<string>();

  constructor(root: string, texts: ReadonlyMap<string, string>) {
    this.#folder = new TaskFolder(root, texts);
  }

  async apply(actions: readonly TaskAction[]): Promise<Applied> {
    const reasons = new Map<TaskAction, string>();
    // Each waits for the disk most of the time, and the disk serves many at once: eight of them take half the time of one.
    await inLanes(LANES, chainsOf(actions), async (chain) => {
      for (const action of chain) {
        const reason = await this.#reasonNotTo(action);
        if (reason !== undefined) reasons.set(action, reason);
      }
    });
    await this.#folder.sync();
    return {
      done: actions.filter((action) => !reasons.has(action)),
      left: actions.flatMap((action) => {
        const reason = reasons.get(action);
        return reason === undefined ? [] : [{ action, reason }];
      }),
    };
  }

  async #reasonNotTo(action: TaskAction): Promise<string | undefined> {
    const ids = idsOf(action);
    try {
      if (ids.some((id) => this.#stuck.has(id))) throw new Meanwhile('what comes before it was not done');
      await this.#one(action);
      return undefined;
    } catch (error) {
      for (const id of ids) this.#stuck.add(id);
      return reasonOf(error);
    }
  }

  async #one(action: TaskAction): Promise<void> {
    switch (action.kind) {
      case 'move':
        return await this.#folder.move(action.from, action.to);
      case 'update':
        return await this.#folder.update(action.path, action.changes);
      case 'create':
        // Another pass may have made it, and moved it on, since we looked. Then its parent says so.
        return await this.#folder.create(action.path, followUpText(action.follow_up), () =>
          this.#folder.expectUnchanged(action.parent),
        );
      case 'drop':
        return await this.#folder.drop(action.path, action.twin);
    }
  }
}

/** What is done to one task, and to those that come of it, in its order; what is done to others has nothing to do with it. */
function chainsOf(actions: readonly TaskAction[]): TaskAction[][] {
  const chains: TaskAction[][] = [];
  const byId = new Map<string, TaskAction[]>();
  for (const action of actions) {
    const ids = idsOf(action);
    let chain = ids.map((id) => byId.get(id)).find((each) => each !== undefined);
    if (chain === undefined) {
      chain = [];
      chains.push(chain);
    }
    chain.push(action);
    for (const id of ids) byId.set(id, chain);
  }
  return chains;
}

/** A follow-up is made for its parent: without the one there is nothing to say in the other. */
function idsOf(action: TaskAction): string[] {
  return action.kind === 'create' ? [action.id, action.follow_up.previous_task] : [action.id];
}
