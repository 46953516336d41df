/**
 * A map with a limited number of entries. When half of them have been set since it last made room, all other
 * entries are dropped at once: dropping them one by one, in insertion order, was most of the cost of setting
 * one.
 */
export class BoundedMap<V> {
  readonly #half: number;
  #recent = new Map<string, V>();
  #older = new Map<string, V>();
  /** If true, `undefined` from a lookup does not mean that the entry is missing. */
  #holdsUndefined = false;

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2));
  }

  has(key: string): boolean {
    return this.#recent.has(key) || this.#older.has(key);
  }

  get(key: string): V | undefined {
    const recent = this.#recent.get(key);
    const isFound = recent !== undefined || (this.#holdsUndefined && this.#recent.has(key));
    return isFound ? recent : this.#older.get(key);
  }

  set(key: string, value: V): void {
    this.#holdsUndefined ||= value === undefined;
    this.#recent.set(key, value);
    if (this.#recent.size < this.#half) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  delete(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}
