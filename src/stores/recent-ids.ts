import { BoundedMap } from '../kernel/bounded-map.ts';
import { type EntityKey, type EntityRecord, keyText } from '../ledger/entity.ts';

const KEPT_MAX = 5000;

/**
 * The records as this process last wrote them. The agent that claims a task completes it, and the agent that
 * locks a file releases it: the record needed next is mostly known already, and asking the server for it
 * takes half the time of the call. A record here may be out of date, which is harmless: a commit proves every
 * version it relied on, and no call is refused because of what is remembered here.
 */
export class Recent {
  readonly #records = new BoundedMap<EntityRecord | undefined>(KEPT_MAX);

  put(project: string, record: EntityRecord): void {
    this.putSeen(project, record, record);
  }

  /** `undefined` is remembered too: there is no such record. */
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
