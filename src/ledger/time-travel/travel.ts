import type { Moment } from '../../kernel/moment.ts';
import { type Entities, type EntityRecord, keyText } from '../entity.ts';
import type { LogEntry } from '../log.ts';
import { apply, type State } from '../replay.ts';

/** How far into the log a moment reaches. */
export interface Reach {
  /** Of the last row that belongs to it; 0 when none does. */
  readonly position: number;
  /** The time of that row. */
  readonly at_ms: number | undefined;
  readonly rows: number;
  readonly events: number;
  /**
   * For a moment by the clock: rows within reach that have a later time, because the clock was set back after
   * them.
   */
  readonly later_rows: number;
}

/**
 * One moment on a pass over the log. Order is by position. Times are only labels, and clocks that jump put
 * them out of order. What the product shows for a moment must still be a state that existed: everything up to
 * the last row with an event whose time is this moment or earlier. So the pass continues behind the moment,
 * and this remembers what to undo.
 */
class Mark {
  readonly #moment: Moment;
  /** Each record as it was at the mark, if it has changed since. */
  readonly #since = new Map<string, EntityRecord | undefined>();
  #later = 0;
  reach: Reach = { position: 0, at_ms: undefined, rows: 0, events: 0, later_rows: 0 };

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  isBehind(entry: LogEntry): boolean {
    return 'position' in this.#moment && entry.position > this.#moment.position;
  }

  /** Called before the row is applied. */
  pass(entry: LogEntry, state: State, counted: { rows: number; events: number }): void {
    if (this.#isLabelledLater(entry)) this.#later += 1;
    if (this.#covers(entry)) {
      this.#since.clear();
      const { position, at_ms } = entry;
      this.reach = { position, at_ms, ...counted, later_rows: this.#later };
      return;
    }
    for (const event of entry.events) {
      const key = keyText(event);
      if (!this.#since.has(key)) this.#since.set(key, state.get(key));
    }
  }

  /** A row without events has its reader's clock, and changes nothing. */
  #covers({ position, at_ms, events }: LogEntry): boolean {
    if ('position' in this.#moment) return position <= this.#moment.position;
    return events.length > 0 && at_ms <= this.#moment.at_ms;
  }

  #isLabelledLater({ at_ms, events }: LogEntry): boolean {
    return 'at_ms' in this.#moment && events.length > 0 && at_ms > this.#moment.at_ms;
  }

  changedSince(): Iterable<string> {
    return this.#since.keys();
  }

  recordAt(key: string, state: State): EntityRecord | undefined {
    return this.#since.has(key) ? this.#since.get(key) : state.get(key);
  }

  /** The state at the mark, computed back from the state at the end of the pass. */
  takeBack(state: State): State {
    for (const [key, record] of this.#since) {
      if (record === undefined) state.delete(key);
      else state.set(key, record);
    }
    return state;
  }
}

async function pass(
  rows: AsyncIterable<LogEntry>,
  entities: Entities,
  marks: readonly Mark[],
): Promise<State> {
  const state: State = new Map();
  const counted = { rows: 0, events: 0 };
  for await (const entry of rows) {
    if (marks.every((mark) => mark.isBehind(entry))) break;
    counted.rows += 1;
    counted.events += entry.events.length;
    for (const mark of marks) mark.pass(entry, state, counted);
    apply(entities, state, entry);
  }
  return state;
}

export interface Past extends Reach {
  readonly state: State;
}

/** The state at a moment. */
export async function stateAt(
  rows: AsyncIterable<LogEntry>,
  entities: Entities,
  moment: Moment,
): Promise<Past> {
  const mark = new Mark(moment);
  const state = await pass(rows, entities, [mark]);
  return { ...mark.reach, state: mark.takeBack(state) };
}

export interface Change {
  readonly before: EntityRecord | undefined;
  readonly after: EntityRecord | undefined;
}

export interface Between {
  readonly from: Reach;
  readonly to: Reach;
  /** For every record written in between, in the order of the first write. */
  readonly changes: Change[];
  /** At the second moment. */
  readonly state: State;
}

/** How two moments differ, in one pass: a record's state at the first moment is kept only if it changes. */
export async function changesBetween(
  rows: AsyncIterable<LogEntry>,
  entities: Entities,
  moments: { readonly from: Moment; readonly to: Moment },
): Promise<Between> {
  const from = new Mark(moments.from);
  const to = new Mark(moments.to);
  const state = await pass(rows, entities, [from, to]);
  const changes: Change[] = [];
  for (const key of from.changedSince()) {
    const before = from.recordAt(key, state);
    const after = to.recordAt(key, state);
    if (before !== after) changes.push({ before, after });
  }
  return { from: from.reach, to: to.reach, changes, state: to.takeBack(state) };
}
