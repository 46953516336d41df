import { systemClock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import { commit, type Decision, refused } from '../../src/ledger/decision.ts';
import { defineEntities, type EntityType } from '../../src/ledger/entity.ts';
import type { Request } from '../../src/ledger/log.ts';
import type { Store, StoreContext } from '../../src/ledger/store-port.ts';
import { openStore } from '../../src/stores/open-store.ts';

/** The smallest entity there is: a set flag. With it the store's own promises can be tested without the domain's. */
const cellEntity: EntityType<{ by: string }> = {
  kind: 'cell',
  evolve: (_state, event) => ({ by: event.data.by as string }),
  index: (state) => ({ sort: `set/${state.by}`, links: [`by/${state.by}`, 'any'] }),
};

const ids = createIds(systemClock, systemRandom);

export const cellEntities = defineEntities(cellEntity);

export const cellContext: StoreContext = {
  entities: cellEntities,
  clock: systemClock,
  random: systemRandom,
  ids,
};

/** On SQLite beside the product's own file: a process that opens that makes records from all of its rows, and knows no cells. */
export function openCells(url: string): Promise<Store> {
  return openStore(url.startsWith('sqlite:') ? `${url}-of-cells` : url, cellContext);
}

export function cell(id: string) {
  return { kind: 'cell', id };
}

export function request(agent_id: string, operation_id = ids.uuid(), input_digest = ''): Request {
  return {
    project: 'cells',
    actor: { agent_id, agent_type: 'test', session_id: agent_id },
    sequence: 1,
    operation: 'set_cell',
    parameters: {},
    operation_id,
    input_digest,
    started_ms: 0,
  };
}

/** Sets a cell unless one that it only reads is set: the shape in which write skew shows. */
export function setUnless(id: string, unless: string, by: string): Decision<JsonObject> {
  return {
    needs: { keys: [cell(id), cell(unless)] },
    decide(loaded) {
      if (loaded.get(cell(unless)) !== undefined || loaded.get(cell(id)) !== undefined)
        return refused(refuse('blocked', 'set already'));
      return commit([{ ...cell(id), type: 'cell_set', data: { by } }], { success: true });
    },
  };
}
