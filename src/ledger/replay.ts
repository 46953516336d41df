import { canonical, type JsonObject } from '../kernel/json.ts';
import { prefixed } from './decision.ts';
import { type Entities, type EntityRecord, type EntityType, keyText, nextVersion } from './entity.ts';
import type { LogEntry } from './log.ts';
import { entityType } from './proposal.ts';
import type { Store } from './store-port.ts';

export { canonical } from '../kernel/json.ts';

export type State = Map<string, EntityRecord>;

/** The fold of one row. The entire state of the product is this, applied from the first row on. */
export function apply(entities: Entities, state: State, entry: LogEntry): void {
  const before = new Map<string, EntityRecord | undefined>();
  for (const key of entry.anew ?? []) state.delete(key);
  for (const event of entry.events) {
    const text = keyText(event);
    const current = state.get(text);
    if (!before.has(text)) before.set(text, current);
    const folded = entityType(entities, event.kind).evolve(current?.state, event, entry.at_ms);
    state.set(text, {
      kind: event.kind,
      id: event.id,
      version: nextVersion(before.get(text), entry.at_ms),
      born: current?.born ?? entry.born ?? entry.position,
      state: folded,
    });
  }
}

export interface Difference {
  readonly key: string;
  readonly replayed: JsonObject | null;
  readonly live: JsonObject | null;
}

export interface Replayed {
  readonly state: State;
  readonly entries: number;
  readonly events: number;
  readonly position: number;
}

/** Rebuilds the state from the whole log; `stateAt` in travel.ts does it for a past moment. */
export async function replay(
  store: Store,
  entities: Entities,
  project: string,
  rows: AsyncIterable<LogEntry> = rowsOf(store, project),
): Promise<Replayed> {
  const state: State = new Map();
  let entries = 0;
  let events = 0;
  let position = 0;
  for await (const entry of rows) {
    apply(entities, state, entry);
    entries += 1;
    events += entry.events.length;
    position = entry.position;
  }
  return { state, entries, events, position };
}

/** The rows of the log in order, page by page, up to its end at the time that is reached. */
export async function* rowsOf(store: Store, project: string, after = 0): AsyncGenerator<LogEntry> {
  for (let position = after; ; ) {
    const { entries } = await store.read(project, position, 1000);
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined) return;
    position = last.position;
  }
}

/**
 * Compares a replayed state with the live records while other processes go on writing. A record that differs
 * is read again; it counts as different only if the log has no newer row about it.
 */
export async function compareWithLive(
  store: Store,
  entities: ReadonlyMap<string, EntityType>,
  project: string,
  replayed: Replayed,
): Promise<Difference[]> {
  const { state } = replayed;
  let { position } = replayed;
  const catchUp = async (): Promise<Set<string>> => {
    const touched = new Set<string>();
    for (;;) {
      const page = await store.read(project, position, 1000);
      for (const entry of page.entries) {
        apply(entities, state, entry);
        for (const event of entry.events) touched.add(keyText(event));
        position = entry.position;
      }
      if (page.entries.length === 0) return touched;
    }
  };
  const { now_ms } = await store.find(project, {});
  const isSame = (key: string, found: State) =>
    sameRecord(found.get(key), state.get(key)) ||
    (!found.has(key) && isOver(entities, state.get(key), now_ms));
  const live = await liveRecords(store, entities, project);
  await catchUp();
  let suspects = [...new Set([...live.keys(), ...state.keys()])].filter((key) => !isSame(key, live));
  const differences: Difference[] = [];
  for (let round = 0; suspects.length > 0 && round < 50; round += 1) {
    const again = await liveByKey(store, project, suspects);
    const touched = await catchUp();
    const unsure: string[] = [];
    for (const key of suspects) {
      if (isSame(key, again)) continue;
      if (touched.has(key)) unsure.push(key);
      else differences.push({ key, replayed: plain(state.get(key)), live: plain(again.get(key)) });
    }
    suspects = unsure;
  }
  return differences;
}

async function liveByKey(store: Store, project: string, keys: readonly string[]): Promise<State> {
  const live: State = new Map();
  for (let start = 0; start < keys.length; start += 100) {
    const wanted = keys.slice(start, start + 100).map((text) => {
      const slash = text.indexOf('/');
      return { kind: text.slice(0, slash), id: text.slice(slash + 1) };
    });
    const { loaded } = await store.find(project, { keys: wanted });
    for (const key of wanted) {
      const record = loaded.get(key);
      if (record !== undefined) live.set(keyText(key), record);
    }
  }
  return live;
}

async function liveRecords(
  store: Store,
  entities: ReadonlyMap<string, EntityType>,
  project: string,
): Promise<State> {
  const live: State = new Map();
  for (const kind of entities.keys()) {
    let from = '';
    for (;;) {
      const range = { ...prefixed('id', kind, '', 1000), from };
      const { loaded } = await store.find(project, { ranges: [range] });
      const page = loaded.list(range);
      for (const record of page) live.set(keyText(record), record);
      const last = page.at(-1);
      if (page.length < 1000 || last === undefined) break;
      from = `${last.id}\u0000`;
    }
  }
  return live;
}

/** A store may have swept the record away. */
export function isOver(entities: Entities, record: EntityRecord | undefined, now_ms: number): boolean {
  if (record === undefined) return false;
  const over_ms = entityType(entities, record.kind).over_ms?.(record.state);
  return over_ms !== undefined && over_ms <= now_ms;
}

function sameRecord(a: EntityRecord | undefined, b: EntityRecord | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.version === b.version && a.born === b.born && canonical(a.state) === canonical(b.state);
}

function plain(record: EntityRecord | undefined): JsonObject | null {
  if (record === undefined) return null;
  return { version: record.version, born: record.born, state: record.state };
}
