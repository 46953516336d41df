import { BoundedMap } from '../kernel/bounded-map.ts';
import { type EntityKey, type EntityRecord, keyText } from '../ledger/entity.ts';

const KEPT_MAX = 5000;

/**
 * The records as this process last wrote them. Whoever claims a task completes it, whoever locks a file releases it: mostly
 * what is needed next is known already, and asking the server for it is half the time of the call. It may be out of date,
 * which is harmless: a commit proves every version it went by, and nobody is refused because of what stands here.
 */
export class Recent {
  readonly #records = new BoundedMap<EntityRecord | undefined>(KEPT_MAX);

  put(project: string, record: EntityRecord): void {
    this.putSeen(project, record, record);
  }

  /** Also that there is none. */
  putSeen(project: string, key: EntityKey, record: EntityRecord | undefined): void {
    this.#records.set(`${project}\0${keyText(key)}`, record);
  }

  knows(project: string, key: EntityKey): boolean {
    return this.#records.has(`${project}\0${keyText(key)}`);
  }

  get(project: string, key: EntityKey): EntityRecord | undefined {
    return this.#records.get(`${project}\0${keyText(key)}`);
  }

  forget(project: string, keys: readonly EntityKey[]): void {
    for (const key of keys) this.#records.delete(`${project}\0${keyText(key)}`);
  }
}
