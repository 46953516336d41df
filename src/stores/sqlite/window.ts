import type { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityRecord } from '../../ledger/entity.ts';
import type { Placed } from '../../ledger/index-order.ts';
import { toRecord } from './record-rows.ts';
import type { Statements } from './statements.ts';

const AT_ONCE_MAX = 64;
/** What is larger is not read ahead: others may be through with it before it is asked for. */
const AHEAD_CHARACTERS_MAX = 256 * 1024;

/** Records as the table has them, or that it has none (null). */
export type Known = BoundedMap<EntityRecord | null>;

/**
 * What the table has of a range, read some rows ahead: whoever takes from a queue is followed by others who take the next,
 * and a statement for each of them took a third of their time. As long as nobody writes the table.
 */
export class TableWindow {
  readonly #statements: Statements;
  readonly #project: string;
  readonly #range: Range;
  readonly #known: Known;
  #rows: Placed[] = [];
  #first = 0;
  #atOnce = 0;
  /** The last that was dropped, and the last that was read. */
  #dropped: Placed | undefined;
  #read: Placed | undefined;
  #isAll = false;

  constructor(statements: Statements, project: string, range: Range, known: Known) {
    this.#statements = statements;
    this.#project = project;
    this.#range = range;
    this.#known = known;
  }

  get before(): string {
    return this.#range.before;
  }

  /** Counted from the first that was not dropped; undefined: there are not so many. */
  at(index: number): Placed | undefined {
    while (this.#first + index >= this.#rows.length && !this.#isAll) this.#readOn();
    return this.#rows[this.#first + index];
  }

  /** The first is of no use to anybody any more. */
  drop(): void {
    this.#dropped = this.#rows[this.#first];
    this.#first += 1;
    if (this.#first < this.#rows.length) return;
    this.#rows = [];
    this.#first = 0;
  }

  /** Keeps nothing but what was dropped. */
  release(): void {
    this.#rows = [];
    this.#first = 0;
    this.#atOnce = 0;
    this.#read = this.#dropped;
    this.#isAll = false;
  }

  /** As many as were asked for at first, then more at a time: most ranges are read once. */
  #readOn(): void {
    this.#atOnce =
      this.#atOnce === 0
        ? this.#range.limit
        : Math.max(this.#range.limit, Math.min(this.#atOnce * 2, AT_ONCE_MAX));
    const enough = this.#rows.length + this.#atOnce;
    let characters = 0;
    for (const row of this.#statements.rowsFrom(this.#project, this.#range, this.#read)) {
      const [version, , state, id, key] = row;
      const known = this.#known.get(id);
      const record = known?.version === version ? known : toRecord(this.#range.kind, id, row);
      this.#read = { key, record };
      this.#rows.push(this.#read);
      characters += state.length;
      if (this.#rows.length >= enough || characters > AHEAD_CHARACTERS_MAX) return;
    }
    this.#isAll = true;
  }
}
