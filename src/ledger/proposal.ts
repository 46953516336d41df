import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { refuse, StoreFailure } from '../kernel/refusal.ts';
import type { Decision, Loaded, Needs, Range, Verdict } from './decision.ts';
import {
  type Entities,
  type EntityKey,
  EntityMap,
  type EntityRecord,
  type EventBody,
  type IndexKeys,
  keyText,
  nextVersion,
} from './entity.ts';

export interface RecordWrite extends EntityKey {
  readonly version: number;
  /** The version it replaces; 0: it is created. */
  readonly expected: number;
  /** Whether it was loaded at all. A record that was not loaded and is created must not exist. */
  readonly wasSought: boolean;
  readonly born: number | undefined;
  readonly state: JsonObject;
  readonly state_before: JsonObject | undefined;
  readonly keys: IndexKeys;
  /** Its index keys before; empty for a new record. */
  readonly keys_before: IndexKeys;
}

export interface Expectation extends EntityKey {
  readonly version: number;
}

export interface Proposal {
  readonly writes: readonly RecordWrite[];
  /** Records that were read by key and are not written: they must not have changed either. */
  readonly expects: readonly Expectation[];
  readonly not_after_ms: number | undefined;
}

/** `isRead`: read by its key, and so expected unchanged. */
interface Found {
  record: EntityRecord | undefined;
  isRead: boolean;
}

/** Everything loaded so far in the rounds of one decision. */
export class LoadedSet implements Loaded {
  readonly #found = new EntityMap<Found>();
  readonly #lists: { readonly range: Range; readonly records: readonly EntityRecord[] }[] = [];

  put(key: EntityKey, record: EntityRecord | undefined): void {
    const entry = this.#found.entry(key);
    if (entry === undefined) this.#found.add(key, { record, isRead: true });
    else entry.value = { record, isRead: true };
  }

  putList(range: Range, records: readonly EntityRecord[]): void {
    const at = this.#lists.findIndex((each) => isSameRange(each.range, range));
    if (at === -1) this.#lists.push({ range, records });
    else this.#lists[at] = { range, records };
    // A record seen in a range can be written with its version expected, without loading it again by key.
    for (const record of records)
      if (this.#found.entry(record) === undefined) this.#found.add(record, { record, isRead: false });
  }

  has(key: EntityKey): boolean {
    return this.#found.entry(key) !== undefined;
  }

  hasKey(key: EntityKey): boolean {
    return this.#found.entry(key)?.value.isRead === true;
  }

  get<S>(key: EntityKey): EntityRecord<S> | undefined {
    const entry = this.#found.entry(key);
    if (entry === undefined) throw new Error(`decider used ${keyText(key)} without asking for it`);
    return entry.value.record as EntityRecord<S> | undefined;
  }

  hasList(range: Range): boolean {
    return this.#listOf(range) !== undefined;
  }

  list<S>(range: Range): readonly EntityRecord<S>[] {
    const list = this.#listOf(range);
    if (list === undefined) throw new Error(`decider used ${rangeText(range)} without asking for it`);
    return list as readonly EntityRecord<S>[];
  }

  #listOf(range: Range): readonly EntityRecord[] | undefined {
    return this.#lists.find((each) => isSameRange(each.range, range))?.records;
  }

  get keysRead(): Iterable<EntityKey> {
    const keys: EntityKey[] = [];
    for (const { key, value } of this.#found.entries()) if (value.isRead) keys.push(key);
    return keys;
  }
}

function isSameRange(a: Range, b: Range): boolean {
  return (
    a === b ||
    (a.by === b.by && a.kind === b.kind && a.from === b.from && a.before === b.before && a.limit === b.limit)
  );
}

function rangeText(range: Range): string {
  return `${range.by} ${range.kind} from ${range.from} before ${range.before}, ${range.limit} at most`;
}

export type Settled<A extends JsonObject> = Exclude<Verdict<A>, { verdict: 'need' }>;

/**
 * The rounds of one decision. A generator, so that a store that loads synchronously inside its transaction
 * and one that loads over a network run the same code. It yields what to load and ends with a verdict.
 */
export function* deliberate<A extends JsonObject>(
  decision: Decision<A>,
  loaded: LoadedSet,
  now_ms: () => number,
): Generator<Needs, Settled<A>, void> {
  if (!isEmpty(decision.needs)) yield decision.needs;
  for (let round = 0; round <= limits.need_rounds; round += 1) {
    const verdict = decision.decide(loaded, now_ms());
    if (verdict.verdict !== 'need') return verdict;
    yield verdict.needs;
  }
  throw new Error(`a decision needed more than ${limits.need_rounds} further rounds`);
}

function isEmpty(needs: Needs): boolean {
  return (needs.keys?.length ?? 0) === 0 && (needs.ranges?.length ?? 0) === 0;
}

/** Folds the events of a verdict into the records to write and the records that must be unchanged. */
export function propose(
  entities: Entities,
  loaded: LoadedSet,
  events: readonly EventBody[],
  at_ms: number,
  not_after_ms: number | undefined,
  /** Records to be created again even if they exist: a copied row says so. */
  anew: readonly string[] = [],
): Proposal {
  const written = new EntityMap<{ readonly record: EntityRecord | undefined; state: JsonObject }>();
  const isAnew = (key: EntityKey) => anew.length > 0 && anew.includes(keyText(key));
  for (const event of events) {
    const type = entityType(entities, event.kind);
    const before = written.entry(event);
    if (before !== undefined) {
      before.value.state = type.evolve(before.value.state, event, at_ms);
      continue;
    }
    // A record that was never loaded is created: the store makes sure that it does not exist.
    const record = loaded.has(event) ? loaded.get<JsonObject>(event) : undefined;
    const state = type.evolve(isAnew(event) ? undefined : record?.state, event, at_ms);
    written.add({ kind: event.kind, id: event.id }, { record, state });
  }
  const writes = written.entries().map(({ key, value: { record, state } }): RecordWrite => {
    const type = entityType(entities, key.kind);
    return {
      kind: key.kind,
      id: key.id,
      version: nextVersion(record, at_ms),
      expected: record?.version ?? 0,
      wasSought: record !== undefined || loaded.has(key),
      // Version 0: another program's item is there, and no record of ours yet.
      born: isAnew(key) || record?.version === 0 ? undefined : record?.born,
      state,
      state_before: record?.state,
      keys: type.index(state, key.id),
      keys_before: record === undefined ? {} : type.index(record.state, key.id),
    };
  });
  const expects: Expectation[] = [];
  for (const key of loaded.keysRead) {
    if (written.entry(key) === undefined)
      expects.push({ kind: key.kind, id: key.id, version: loaded.get(key)?.version ?? 0 });
  }
  return { writes, expects, not_after_ms };
}

/** Only a log that another program wrote can contain a kind we don't know. */
export function entityType(entities: Entities, kind: string) {
  const type = entities.get(kind);
  if (type === undefined)
    throw new StoreFailure(
      'upgrade_required',
      `The log tells of a ${kind}, which this Coxswain does not know.`,
    );
  return type;
}

/**
 * The limits of the tightest engine apply on every engine. Returns the refusal, or undefined when the
 * proposal fits.
 */
export function overLimits(proposal: Proposal) {
  const entities = proposal.writes.length + proposal.expects.length;
  if (entities > limits.entities_per_commit) {
    const message = `This would touch ${entities} entities at once; at most ${limits.entities_per_commit} are possible.`;
    return refuse('too_large', message);
  }
  for (const write of proposal.writes) {
    if (isLonger(write.id, limits.entity_id_bytes_max))
      return refuse(
        'too_large',
        `The id of a ${write.kind} is longer than ${limits.entity_id_bytes_max} bytes.`,
      );
    const { sort = '', group = '', links = [] } = write.keys;
    const isKeyLonger = (key: string) => isLonger(key, limits.index_key_bytes_max);
    if (isKeyLonger(sort) || isKeyLonger(group) || links.some(isKeyLonger))
      return refuse(
        'too_large',
        `A key of a ${write.kind} is longer than ${limits.index_key_bytes_max} bytes.`,
      );
    if (links.length > limits.links_per_record)
      return refuse('too_large', `A ${write.kind} has more than ${limits.links_per_record} links.`);
  }
  return undefined;
}

/** For the encoded state; stores call it where they have the text anyway. */
export function stateTooLarge(kind: string, stateText: string) {
  if (!isLonger(stateText, limits.state_bytes_max)) return undefined;
  return refuse('too_large', `The ${kind} would need more than ${limits.state_bytes_max} bytes.`);
}

/** In UTF-8, where a UTF-16 code unit takes at most three bytes. */
function isLonger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && Buffer.byteLength(text, 'utf8') > bytes;
}
