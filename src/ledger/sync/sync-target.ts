import { unpackLeaves } from '../audit/seal.ts';
import type { LogEntry } from '../log.ts';
import { rowsOf } from '../replay.ts';
import type { Store } from '../store-port.ts';
import { Identities, isOfTheStore, shortened } from './row-identity.ts';

const SEALS_AT_ONCE = 200;

export type OnRow = (entry: LogEntry, identity: string) => void;

/** What the target's log has by now; other processes may write to it meanwhile. */
export class TargetLog {
  readonly #store: Store;
  readonly #project: string;
  readonly #identities = new Identities();
  #position = 0;

  constructor(store: Store, project: string) {
    this.#store = store;
    this.#project = project;
  }

  has(identity: string): boolean {
    return this.#identities.has(identity);
  }

  /** All of it, from its first row on: with archived rows, and knowing what was pruned. */
  async read(rows: AsyncIterable<LogEntry>, onRow: OnRow): Promise<void> {
    await this.#addPruned();
    await this.#add(rows, onRow);
  }

  /** Rows added since. */
  async catchUp(onRow: OnRow = () => {}): Promise<void> {
    await this.#add(rowsOf(this.#store, this.#project, this.#position), onRow);
  }

  async #add(rows: AsyncIterable<LogEntry>, onRow: OnRow): Promise<void> {
    for await (const entry of rows) {
      this.#position = Math.max(this.#position, entry.position);
      if (!isOfTheStore(entry)) onRow(entry, this.#identities.next(entry));
    }
  }

  /** Reads and refusals that retention has removed here must not come back; their seals still know them. */
  async #addPruned(): Promise<void> {
    const { trail } = this.#store;
    for (let number = 0; ; ) {
      const seals = await trail.sealsAfter(this.#project, number, SEALS_AT_ONCE);
      for (const seal of seals) {
        if (seal.pruned_by === null) continue;
        const packed = (await trail.leaves(this.#project, seal.number)) ?? Buffer.alloc(0);
        for (const { kind, digest } of unpackLeaves(packed))
          if (kind === 'quiet') this.#identities.add(shortened(digest));
      }
      const last = seals.at(-1);
      if (last === undefined) return;
      number = last.number;
    }
  }
}
