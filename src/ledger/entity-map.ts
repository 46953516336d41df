import { type EntityKey, keyText } from './entity.ts';

export interface Entry<V> {
  readonly key: EntityKey;
  value: V;
}

/** Up to this many entries are compared one by one. */
const FEW = 12;

/**
 * Values by kind and id, in insertion order. Nearly every decision has a handful of them: comparing their
 * names is less work than building, hashing and looking up one text for each, a dozen times for a lock.
 */
export class EntityMap<V> {
  readonly #entries: Entry<V>[] = [];
  #byText: Map<string, Entry<V>> | undefined;

  entry({ kind, id }: EntityKey): Entry<V> | undefined {
    if (this.#byText !== undefined) return this.#byText.get(keyText({ kind, id }));
    for (const entry of this.#entries) if (entry.key.id === id && entry.key.kind === kind) return entry;
    return undefined;
  }

  /** Only for a key that is not in it yet. */
  add(key: EntityKey, value: V): Entry<V> {
    const entry = { key, value };
    this.#entries.push(entry);
    if (this.#entries.length > FEW) {
      this.#byText ??= new Map(this.#entries.map((each) => [keyText(each.key), each]));
      this.#byText.set(keyText(key), entry);
    }
    return entry;
  }

  entries(): readonly Entry<V>[] {
    return this.#entries;
  }
}
