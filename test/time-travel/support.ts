import { claimEvent } from '../../src/features/claims/edge-claim.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { commit, prefixed } from '../../src/ledger/decision.ts';
import { type EventBody, keyText } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { canonical, type State } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';

let written = 0;

/** Commits these very events, as another part of the product would. */
export async function write(coxswain: Coxswain, agent_id: string, ...events: EventBody[]): Promise<number> {
  written += 1;
  const request = {
    project: coxswain.project,
    actor: { agent_id, agent_type: 'test', session_id: `session-${agent_id}` },
    sequence: written,
    operation: 'write_events',
    parameters: {},
    operation_id: `written-${written}`,
    input_digest: '',
    started_ms: 0,
  };
  const outcome = await coxswain.store.run(request, {
    needs: { keys: events.map(({ kind, id }) => ({ kind, id })) },
    decide: () => commit(events, { success: true }),
  });
  if (outcome.status !== 'committed') throw new Error(JSON.stringify(outcome));
  return outcome.position;
}

export function claimed(feature: string, edge: string, agent_id: string, at_ms = 0): EventBody {
  const lease = {
    agent_id,
    agent_type: 'test',
    session_id: agent_id,
    token: 1,
    granted_at_ms: at_ms,
    expires_at_ms: 8_640_000_000_000_000,
  };
  return claimEvent({ feature, edge }, 'edge_started', {
    granted_to: agent_id,
    agent_role: 'full_stack',
    lease,
  });
}

export function converged(feature: string, edge: string, agent_id: string): EventBody {
  const data = { agent_id, agent_role: 'full_stack', iteration: 3, evaluators: '5/5' };
  return claimEvent({ feature, edge }, 'edge_converged', data);
}

/** Every record there is now. */
export async function liveState({ store, project }: Coxswain): Promise<State> {
  const state: State = new Map();
  for (const kind of entities.keys()) {
    const range = prefixed('id', kind, '', 1000);
    const { loaded } = await store.find(project, { ranges: [range] });
    for (const record of loaded.list(range)) state.set(keyText(record), record);
  }
  return state;
}

/** One text for equal states, in whatever order they were made. */
export function stateText(state: State): string {
  return canonical(Object.fromEntries(state) as unknown as JsonObject);
}

export async function* rowsFrom(rows: readonly LogEntry[]): AsyncGenerator<LogEntry> {
  yield* rows;
}

export async function all(rows: AsyncIterable<LogEntry>): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for await (const row of rows) found.push(row);
  return found;
}
