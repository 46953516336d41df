import type { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityRecord } from '../../ledger/entity.ts';
import type { Placed } from '../../ledger/index-order.ts';
import { toRecord } from './record-rows.ts';
import type { Statements } from './statements.ts';

const AT_ONCE_MAX = 64;
/** Larger rows are not read ahead: other takers may have used them up before they are asked for. */
const AHEAD_CHARACTERS_MAX = 256 * 1024;

/** Records as the table has them; null: the table has none. */
export type Known = BoundedMap<EntityRecord | null>;

/**
 * A range of the table, read some rows ahead: after one taker of a queue come others that take the next
 * tasks, and a statement for each of them took a third of their time. Valid as long as no process writes the
 * table.
 */
export class TableWindow {
  readonly #statements: Statements;
  readonly #project: string;
  readonly #range: Range;
  readonly #known: Known;
  #rows: Placed[] = [];
  #first = 0;
  #atOnce = 0;
  /** The last row that was dropped, and the last row that was read. */
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

  /** Counted from the first row that was not dropped; undefined: there are not so many. */
  at(index: number): Placed | undefined {
    while (this.#first + index >= this.#rows.length && !this.#isAll) this.#readOn();
    return this.#rows[this.#first + index];
  }

  /** The first row is no longer needed. */
  drop(): void {
    this.#dropped = this.#rows[this.#first];
    this.#first += 1;
    if (this.#first < this.#rows.length) return;
    this.#rows = [];
    this.#first = 0;
  }

  /** Keeps nothing except the place of the last dropped row. */
  release(): void {
    this.#rows = [];
    this.#first = 0;
    this.#atOnce = 0;
    this.#read = this.#dropped;
    this.#isAll = false;
  }

  /** As many rows as were asked for at first, then more at a time: most ranges are read once. */
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
