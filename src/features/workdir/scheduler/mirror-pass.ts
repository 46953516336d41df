import { createIds, systemRandom } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Actor } from '../../../ledger/log.ts';
import { refusalOf } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { PassResult } from '../folder/pass.ts';
import { readTree } from '../folder/task-tree.ts';
import { type Filer, takeFromQueue } from '../operations/file-queue.ts';
import { type MirrorPlace, mirrorTree } from '../operations/mirror-tree.ts';
import { directoryName } from '../operations/workdir-place.ts';
import type { TreeProblem } from '../task-file.ts';
import type { WorkdirSettings } from '../workdir-settings.ts';

export interface MirrorOptions {
  readonly root: string;
  readonly settings: WorkdirSettings;
  /** The identity that runs the pass. */
  readonly actor: Actor;
  open(): Promise<Coxswain>;
}

/**
 * The store in which a pass shows what it finds, and from which it takes tasks. A failure of the store is
 * reported and stops nothing: the files are the truth, and the next pass catches up.
 */
export class PassMirror {
  readonly problems: TreeProblem[] = [];
  /** Files that were written for tasks of the queue. */
  taken: readonly string[] = [];
  written = 0;
  /** Why the store does not match the files. */
  away: Refusal | undefined;
  readonly #options: MirrorOptions;
  #coxswain: Coxswain | undefined;
  #filer: Filer | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /**
   * Called before a pass, so that tasks taken from the queue are in the inbox when it looks there. Repeated
   * when a pass is repeated.
   */
  async take(): Promise<void> {
    this.problems.length = 0;
    await this.#try(async (place, filer) => {
      const { taken, problems } = await takeFromQueue(place, filer);
      this.taken = taken;
      this.problems.push(...problems);
    });
  }

  /** Called after a pass, when its changes are final. */
  async show({ done }: Pick<PassResult, 'done'>): Promise<void> {
    const archived = done.flatMap((action) =>
      action.kind === 'move' && action.to.startsWith('archive/') ? [action.id] : [],
    );
    await this.#try(async (place, { port }) => {
      const { written, problems } = await mirrorTree(place, port, archived);
      this.written += written;
      this.problems.push(...problems);
    });
  }

  async close(): Promise<void> {
    await this.#coxswain?.close().catch(() => {});
  }

  async #try(act: (place: MirrorPlace, filer: Filer) => Promise<void>): Promise<void> {
    // An unavailable store is waited for only once.
    if (this.away !== undefined) return;
    const { root, settings } = this.#options;
    try {
      const coxswain = await this.#opened();
      const directory = directoryName(coxswain.workspace.root, root);
      this.#filer ??= this.#filerOn(coxswain);
      await act({ root, directory, settings, tree: readTree(root) }, this.#filer);
    } catch (error) {
      this.away = refusalOf(error);
    }
  }

  async #opened(): Promise<Coxswain> {
    this.#coxswain ??= await this.#options.open();
    return this.#coxswain;
  }

  #filerOn(coxswain: Coxswain): Filer {
    const connection = coxswain.connect(this.#options.actor, 'operator', { shows: 'never' });
    const { store, project, clock } = coxswain;
    return {
      by: createIds(clock, systemRandom).uuid(),
      port: {
        find: (needs) => store.find(project, needs),
        chore: (name, decision) => connection.chore(name, decision),
        elapsed_ms: () => clock.elapsed_ms(),
      },
    };
  }

  /** For programs that read JSON. */
  describe(): JsonObject {
    return {
      written: this.written,
      taken: [...this.taken],
      problems: this.problems.map((problem) => ({ ...problem })),
      ...(this.away === undefined ? {} : { away: this.away }),
    };
  }

  takenLines(): string[] {
    return this.taken.map((path) => `took from the queue  ${path}`);
  }

  /** For people: one line each. */
  lines(): string[] {
    return [
      ...(this.written === 0
        ? []
        : [`mirrored  ${this.written} ${this.written === 1 ? 'change' : 'changes'} in the store`]),
      ...this.problems.map(
        ({ file, line, field, reason }) => `left alone  ${file}:${line}: ${field}: ${reason}`,
      ),
      ...(this.away === undefined
        ? []
        : [`not mirrored  ${this.away.message} The files are in order; the next pass catches up.`]),
    ];
  }

  get isWell(): boolean {
    return this.problems.length === 0 && this.away === undefined;
  }
}
