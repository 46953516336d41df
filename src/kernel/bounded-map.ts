/**
 * A map of at most so many entries. When half of them have been set since it last made room, all others go at once: letting them go
 * one by one, in the order in which they came, took most of what setting one takes.
 */
export class BoundedMap<V> {
  readonly #half: number;
  #recent = new Map<string, V>();
  #older = new Map<string, V>();
  /** Then nothing found is not the same as none there. */
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
