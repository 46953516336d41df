/**
 * Is there one order of all calls, in accord with real time, in which a sequential object would have given just these
 * answers? The search of Wing and Gong with Lowe's memory of what was tried: the calls already placed and the state.
 */
export interface Invocation<I, O> {
  readonly process: string;
  readonly input: I;
  /** Undefined: no answer came, so it happened at some time after the call or not at all. */
  readonly output: O | undefined;
  readonly called: bigint;
  readonly returned: bigint | undefined;
}

export interface Sequential<S, I, O> {
  readonly initial: S;
  /** The state after this call, or undefined if it could not have been answered so. */
  step(state: S, input: I, output: O | undefined): S | undefined;
  /** Two states with the same text are the same. */
  text(state: S): string;
}

export type Judgement<I, O> =
  | { readonly ok: true; readonly tried: number }
  /** `placed` is the longest order that was found; none of `stuck` can come next. */
  | {
      readonly ok: false;
      readonly tried: number;
      readonly placed: Invocation<I, O>[];
      readonly stuck: Invocation<I, O>[];
    };

/** An event of the history in a doubly linked list, from which calls are taken out and put back. */
interface Entry {
  readonly call: number;
  readonly isReturn: boolean;
  before: Entry | undefined;
  after: Entry | undefined;
  /** A call's own return, if one came. */
  answer: Entry | undefined;
}

const TRIES_MAX = 5_000_000;

export function linearizable<S, I, O>(
  model: Sequential<S, I, O>,
  unsorted: readonly Invocation<I, O>[],
): Judgement<I, O> {
  const history = [...unsorted].sort((a, b) => (a.called < b.called ? -1 : 1));
  const head = listOf(history);
  const tried = new Set<string>();
  const placed = new Placed(history.map(({ returned }) => returned === undefined));
  const order: { entry: Entry; state: S }[] = [];
  let best: number[] = [];
  let state = model.initial;
  let entry = head.after;
  while (placed.left > 0) {
    if (entry !== undefined && !entry.isReturn) {
      const { input, output } = history[entry.call] as Invocation<I, O>;
      const next = model.step(state, input, output);
      placed.add(entry.call);
      const memory = next === undefined ? '' : `${placed.text()} ${model.text(next)}`;
      if (next !== undefined && !tried.has(memory)) {
        tried.add(memory);
        if (tried.size > TRIES_MAX) throw new Error(`no judgement after ${TRIES_MAX} states`);
        order.push({ entry, state });
        state = next;
        takeOut(entry);
        entry = head.after;
        continue;
      }
      placed.remove(entry.call);
      entry = entry.after;
      continue;
    }
    // A return before its call was placed, or the end of the list: the last placing was wrong.
    if (order.length > best.length) best = order.map((each) => each.entry.call);
    const last = order.pop();
    if (last === undefined) return { ok: false, tried: tried.size, ...explain(history, best) };
    putBack(last.entry);
    placed.remove(last.entry.call);
    state = last.state;
    entry = last.entry.after;
  }
  return { ok: true, tried: tried.size };
}

function listOf(history: readonly Invocation<unknown, unknown>[]): Entry {
  const events: { at: bigint; entry: Entry }[] = [];
  for (const [call, { called, returned }] of history.entries()) {
    const entry: Entry = { call, isReturn: false, before: undefined, after: undefined, answer: undefined };
    events.push({ at: called, entry });
    if (returned === undefined) continue;
    entry.answer = { ...entry, isReturn: true };
    events.push({ at: returned, entry: entry.answer });
  }
  // At the same instant calls come first: they may have been at the same time.
  events.sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : Number(a.entry.isReturn) - Number(b.entry.isReturn),
  );
  const head: Entry = { call: -1, isReturn: false, before: undefined, after: undefined, answer: undefined };
  let last = head;
  for (const { entry } of events) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

function takeOut(entry: Entry): void {
  for (const each of [entry, entry.answer]) {
    if (each === undefined) continue;
    if (each.before !== undefined) each.before.after = each.after;
    if (each.after !== undefined) each.after.before = each.before;
  }
}

/** In the opposite order, so that neighbours which left together find each other again. */
function putBack(entry: Entry): void {
  for (const each of [entry.answer, entry]) {
    if (each === undefined) continue;
    if (each.before !== undefined) each.before.after = each;
    if (each.after !== undefined) each.after.before = each;
  }
}

/**
 * The set of calls placed so far. Its text is short, because calls are placed nearly in the order in which they were
 * made: where the first gap is, what lies beyond it, and which of those without an answer are in.
 */
class Placed {
  left: number;
  readonly #open: readonly boolean[];
  readonly #in: Uint8Array;
  readonly #openIn = new Set<number>();
  #low = 0;
  #high = -1;

  constructor(open: readonly boolean[]) {
    this.#open = open;
    this.#in = new Uint8Array(open.length);
    this.left = open.filter((each) => !each).length;
  }

  add(call: number): void {
    this.#in[call] = 1;
    if (this.#open[call]) this.#openIn.add(call);
    else this.left -= 1;
    this.#high = Math.max(this.#high, call);
    while (this.#low < this.#in.length && (this.#in[this.#low] === 1 || this.#open[this.#low]))
      this.#low += 1;
  }

  remove(call: number): void {
    this.#in[call] = 0;
    if (this.#open[call]) this.#openIn.delete(call);
    else this.left += 1;
    this.#low = Math.min(this.#low, call);
    while (this.#high >= 0 && this.#in[this.#high] === 0) this.#high -= 1;
  }

  text(): string {
    const beyond = this.#in.subarray(this.#low, this.#high + 1).join('');
    return `${this.#low}:${beyond}:${[...this.#openIn].sort((a, b) => a - b).join()}`;
  }
}

function explain<I, O>(history: readonly Invocation<I, O>[], best: readonly number[]) {
  const done = new Set(best);
  const open = history.filter((_, call) => !done.has(call));
  const firstReturn = open.reduce<bigint | undefined>(
    (first, { returned }) =>
      returned !== undefined && (first === undefined || returned < first) ? returned : first,
    undefined,
  );
  const stuck = open.filter(({ called }) => firstReturn === undefined || called <= firstReturn);
  return { placed: best.map((call) => history[call] as Invocation<I, O>), stuck };
}
