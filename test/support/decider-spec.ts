import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type RefusalCode, refusalCode } from '../../src/kernel/refusal.ts';
import type { Decision, Needs, Range } from '../../src/ledger/decision.ts';
import type { EntityRecord, EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { deliberate, LoadedSet, propose, type Settled } from '../../src/ledger/proposal.ts';
import { apply, type State } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';

/** A moment that every spec counts from; well above any count of versions, so that tokens are times. */
export const NOON_MS = Date.UTC(2026, 0, 5, 12);
export const MINUTE_MS = 60_000;

/** Something that happened before the spec begins: an event, and when it was committed. */
export interface Fact {
  readonly at_ms: number;
  readonly events: readonly EventBody[];
}

export function fact(at_ms: number, ...events: EventBody[]): Fact {
  return { at_ms, events };
}

/** `given(what happened).at(a time).when(a caller asks).thenCommits(what follows)`. */
export function given(...facts: Fact[]) {
  return { at: (now_ms: number) => new Situation(facts, now_ms) };
}

class Situation {
  readonly #facts: readonly Fact[];
  readonly #now_ms: number;

  constructor(facts: readonly Fact[], now_ms: number) {
    this.#facts = facts;
    this.#now_ms = now_ms;
  }

  when(decision: Decision<JsonObject>): Consequence {
    const state = folded(this.#facts);
    const loaded = new LoadedSet();
    const rounds = deliberate(decision, loaded, () => this.#now_ms);
    let step = rounds.next();
    while (!step.done) {
      load(state, step.value, loaded);
      step = rounds.next();
    }
    return new Consequence(this.#facts, this.#now_ms, loaded, step.value);
  }
}

class Consequence {
  readonly #facts: readonly Fact[];
  readonly #now_ms: number;
  readonly #loaded: LoadedSet;
  readonly settled: Settled<JsonObject>;

  constructor(facts: readonly Fact[], now_ms: number, loaded: LoadedSet, settled: Settled<JsonObject>) {
    this.#facts = facts;
    this.#now_ms = now_ms;
    this.#loaded = loaded;
    this.settled = settled;
  }

  /** The events of the commit, in order: all of them, each with at least the data that is named. */
  thenCommits(...expected: EventBody[]): this {
    const events = this.#committed().events;
    assert.deepEqual(events.map(brief), expected.map(brief));
    for (const [index, event] of expected.entries())
      assert.partialDeepStrictEqual(plain(events[index]?.data), plain(event.data));
    return this;
  }

  answering(expected: JsonObject): this {
    assert.partialDeepStrictEqual(plain(this.answer), plain(expected));
    return this;
  }

  /** Past this moment the commit would be a conflict and the decision taken again. */
  notAfter(expected_ms: number | undefined): this {
    assert.equal(this.#committed().not_after_ms, expected_ms);
    return this;
  }

  thenRefuses(code: RefusalCode, details: JsonObject = {}): void {
    assert.equal(this.settled.verdict, 'refuse', `expected a refusal: ${JSON.stringify(this.settled)}`);
    if (this.settled.verdict !== 'refuse') return;
    assert.equal(refusalCode(this.settled.refusal), code);
    assert.equal(this.settled.refusal.success, false);
    assert.ok(this.settled.refusal.remedy.length > 0, 'a refusal says what to do next');
    assert.partialDeepStrictEqual(plain(this.settled.refusal), plain(details));
  }

  /** Something has to be done before this can be decided. */
  thenFirst(step: JsonObject): void {
    assert.equal(this.settled.verdict, 'first', `expected a first step: ${JSON.stringify(this.settled)}`);
    if (this.settled.verdict === 'first') assert.deepEqual(plain(this.settled.first), plain(step));
  }

  get answer(): JsonObject {
    return this.#committed().answer;
  }

  /** The records as they would be after the commit. */
  get after(): ReadonlyMap<string, EntityRecord> {
    return folded(this.facts);
  }

  /** What had happened and what has happened now: the beginning of another spec. */
  get facts(): Fact[] {
    const { events, not_after_ms } = this.#committed();
    // As a store does it, so that a spec fails where a store would.
    propose(entities, this.#loaded, events, this.#now_ms, not_after_ms);
    return [...this.#facts, fact(this.#now_ms, ...events)];
  }

  #committed(): Extract<Settled<JsonObject>, { verdict: 'commit' }> {
    if (this.settled.verdict !== 'commit') assert.fail(`expected a commit: ${JSON.stringify(this.settled)}`);
    return this.settled;
  }
}

export function folded(facts: readonly Fact[]): State {
  const state: State = new Map();
  for (const [index, { at_ms, events }] of facts.entries())
    apply(entities, state, { position: index + 1, at_ms, events } as unknown as LogEntry);
  return state;
}

export function load(state: State, needs: Needs, into: LoadedSet): void {
  for (const key of needs.keys ?? []) into.put(key, state.get(`${key.kind}/${key.id}`));
  for (const range of needs.ranges ?? []) into.putList(range, select(state, range));
}

function select(state: State, range: Range): EntityRecord[] {
  const found: { key: string; record: EntityRecord }[] = [];
  for (const record of state.values()) {
    if (record.kind !== range.kind) continue;
    const { sort, group, links = [] } = entities.get(record.kind)?.index(record.state, record.id) ?? {};
    const keys = { id: [record.id], sort: [sort], group: [group], link: links }[range.by];
    for (const key of keys)
      if (key !== undefined && key >= range.from && key < range.before) found.push({ key, record });
  }
  found.sort(
    (a, b) => compare(a.key, b.key) || a.record.born - b.record.born || compare(a.record.id, b.record.id),
  );
  return found.slice(0, range.limit).map(({ record }) => record);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function brief({ kind, id, type }: EventBody): string {
  return `${type} ${kind}/${id}`;
}

/** As a store would keep it: fields that are undefined are not there. */
function plain(value: unknown): object {
  return JSON.parse(JSON.stringify(value ?? {})) as object;
}
