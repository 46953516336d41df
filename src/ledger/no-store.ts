import type { JsonObject } from '../kernel/json.ts';
import { StoreFailure } from '../kernel/refusal.ts';
import type { Store } from './store.ts';

/** The address that opens no store: for what a machine answers alone. */
export const NO_STORE = 'none:';

/** Keeps nothing, not even rows about what was asked; says of all else that there is no store. */
export class NoStore implements Store {
  readonly dropped = 0;

  note(): void {}

  run(): Promise<never> {
    return this.#refuse();
  }

  take(): Promise<never> {
    return this.#refuse();
  }

  find(): Promise<never> {
    return this.#refuse();
  }

  read(): Promise<never> {
    return this.#refuse();
  }

  async *watch(): AsyncIterable<void> {}

  async describe(): Promise<JsonObject> {
    return { engine: 'none' };
  }

  async close(): Promise<void> {}

  async #refuse(): Promise<never> {
    throw new StoreFailure('database_unavailable', `No store was opened (${NO_STORE}).`);
  }
}
