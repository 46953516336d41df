import type { JsonObject } from '../kernel/json.ts';
import { StoreFailure } from '../kernel/refusal.ts';
import type { Trail } from '../ledger/audit/audit-port.ts';
import type { Store } from '../ledger/store-port.ts';

/** The address that opens no store: for operations that need only this machine. */
export const NO_STORE = 'none:';

/** Keeps nothing, not even audit rows of reads. Every other call fails: there is no store. */
export class NoStore implements Store {
  readonly dropped = 0;
  readonly trail: Trail = {
    sealsAfter: refuse,
    sealsBefore: refuse,
    leaves: refuse,
    addSeal: refuse,
    scan: refuse,
    stored: refuse,
    remove: refuse,
  };

  note(): void {}

  run(): Promise<never> {
    return refuse();
  }

  take(): Promise<never> {
    return refuse();
  }

  find(): Promise<never> {
    return refuse();
  }

  read(): Promise<never> {
    return refuse();
  }

  async *watch(): AsyncIterable<void> {}

  async describe(): Promise<JsonObject> {
    return { engine: 'none' };
  }

  async close(): Promise<void> {}
}

async function refuse(): Promise<never> {
  throw new StoreFailure('database_unavailable', `No store was opened (${NO_STORE}).`);
}
