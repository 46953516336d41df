import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { refuse, StoreFailure } from '../kernel/refusal.ts';
import type { Decision, Loaded, Needs, Range, Verdict } from './decision.ts';
import {
  type Entities,
  type EntityKey,
  type EntityRecord,
  type EventBody,
  type IndexKeys,
  keyText,
  nextVersion,
} from './entity.ts';

export interface RecordWrite extends EntityKey {
  readonly version: number;
  /** The version it replaces; 0 creates. */
  readonly expected: number;
  readonly born: number | undefined;
  readonly state: JsonObject;
  readonly state_before: JsonObject | undefined;
  readonly keys: IndexKeys;
  /** Where it was found before; nothing for a new one. */
  readonly keys_before: IndexKeys;
}

export interface Expectation extends EntityKey {
  readonly version: number;
}

export interface Proposal {
  readonly writes: readonly RecordWrite[];
  /** What was read by key and is not written: it must not have changed either. */
  readonly expects: readonly Expectation[];
  readonly not_after_ms: number | undefined;
}

/** What has been loaded so far in the rounds of one decision. */
export class LoadedSet implements Loaded {
  readonly #records = new Map<string, EntityRecord | undefined>();
  readonly #lists = new Map<string, readonly EntityRecord[]>();
  readonly #byKey = new Map<string, EntityKey>();

  put(key: EntityKey, record: EntityRecord | undefined): void {
    const text = keyText(key);
    this.#records.set(text, record);
    this.#byKey.set(text, key);
  }

  putList(range: Range, records: readonly EntityRecord[]): void {
    this.#lists.set(rangeText(range), records);
    // A record seen in a range can be written with its version expected, without loading it again by key.
    for (const record of records) {
      const text = keyText(record);
      if (!this.#records.has(text)) this.#records.set(text, record);
    }
  }

  has(key: EntityKey): boolean {
    return this.#records.has(keyText(key));
  }

  hasKey(key: EntityKey): boolean {
    return this.#byKey.has(keyText(key));
  }

  get<S>(key: EntityKey): EntityRecord<S> | undefined {
    const text = keyText(key);
    if (!this.#records.has(text)) throw new Error(`decider used ${text} without asking for it`);
    return this.#records.get(text) as EntityRecord<S> | undefined;
  }

  hasList(range: Range): boolean {
    return this.#lists.has(rangeText(range));
  }

  list<S>(range: Range): readonly EntityRecord<S>[] {
    const list = this.#lists.get(rangeText(range));
    if (list === undefined) throw new Error(`decider used ${rangeText(range)} without asking for it`);
    return list as readonly EntityRecord<S>[];
  }

  get keysRead(): Iterable<EntityKey> {
    return this.#byKey.values();
  }
}

function rangeText(range: Range): string {
  return `${range.by}\0${range.kind}\0${range.from}\0${range.before}\0${range.limit}`;
}

export type Settled<A extends JsonObject> = Exclude<Verdict<A>, { verdict: 'need' }>;

/**
 * The rounds of one decision. A generator, so that a store which loads synchronously inside its transaction and one
 * that loads over a network drive the same code. It yields what to load and ends with a verdict.
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

/** Folds the events of a verdict into the records to write and what else must still be as it was read. */
export function propose(
  entities: Entities,
  loaded: LoadedSet,
  events: readonly EventBody[],
  at_ms: number,
  not_after_ms: number | undefined,
  /** To be begun anew, whatever is there: a copied row says so. */
  anew: readonly string[] = [],
): Proposal {
  const written = new Map<string, { record: EntityRecord | undefined; key: EntityKey; state: JsonObject }>();
  for (const event of events) {
    const text = keyText(event);
    const before = written.get(text);
    // What was never loaded is created: the store makes sure that it does not exist.
    const record =
      before === undefined ? (loaded.has(event) ? loaded.get<JsonObject>(event) : undefined) : before.record;
    const known = anew.includes(text) ? undefined : record?.state;
    const state = entityType(entities, event.kind).evolve(before?.state ?? known, event, at_ms);
    written.set(text, { record, key: { kind: event.kind, id: event.id }, state });
  }
  const writes = [...written.values()].map(({ record, key, state }) => {
    const type = entityType(entities, key.kind);
    const keys = type.index(state, key.id);
    const keys_before = record === undefined ? {} : type.index(record.state, key.id);
    return {
      ...key,
      version: nextVersion(record, at_ms),
      expected: record?.version ?? 0,
      born: anew.includes(keyText(key)) ? undefined : record?.born,
      state,
      state_before: record?.state,
      keys,
      keys_before,
    };
  });
  const expects: Expectation[] = [];
  for (const key of loaded.keysRead) {
    if (!written.has(keyText(key)))
      expects.push({ kind: key.kind, id: key.id, version: loaded.get(key)?.version ?? 0 });
  }
  return { writes, expects, not_after_ms };
}

/** Only a log that somebody else wrote can tell of a kind that is not among ours. */
export function entityType(entities: Entities, kind: string) {
  const type = entities.get(kind);
  if (type === undefined)
    throw new StoreFailure(
      'upgrade_required',
      `The log tells of a ${kind}, which this Coxswain does not know.`,
    );
  return type;
}

/** The limits of the tightest engine, on every engine. Returns the refusal, or undefined when it fits. */
export function overLimits(proposal: Proposal) {
  const entities = proposal.writes.length + proposal.expects.length;
  if (entities > limits.entities_per_commit) {
    const message = `This would touch ${entities} entities at once; at most ${limits.entities_per_commit} are possible.`;
    return refuse('too_large', message);
  }
  for (const write of proposal.writes) {
    if (byteLength(write.id) > limits.entity_id_bytes_max)
      return refuse(
        'too_large',
        `The id of a ${write.kind} is longer than ${limits.entity_id_bytes_max} bytes.`,
      );
    for (const key of [write.keys.sort, write.keys.group, ...(write.keys.links ?? [])]) {
      if (key !== undefined && byteLength(key) > limits.index_key_bytes_max)
        return refuse(
          'too_large',
          `A key of a ${write.kind} is longer than ${limits.index_key_bytes_max} bytes.`,
        );
    }
    if ((write.keys.links?.length ?? 0) > limits.links_per_record)
      return refuse('too_large', `A ${write.kind} has more than ${limits.links_per_record} links.`);
  }
  return undefined;
}

/** Of the encoded state; stores call it where they have the text anyway. */
export function stateTooLarge(kind: string, stateText: string) {
  if (stateText.length * 3 < limits.state_bytes_max || byteLength(stateText) <= limits.state_bytes_max)
    return undefined;
  return refuse('too_large', `The ${kind} would need more than ${limits.state_bytes_max} bytes.`);
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
