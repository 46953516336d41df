/** Agents that wait for what the board has for them, as any agent does; what they hear they say at once. */
import type { JsonObject } from '../src/kernel/json.ts';
import { closeAll, connectAll, doPart, granted } from './board.ts';

export type AgentNews =
  | { readonly said: 'waits'; readonly agent_id: string }
  | { readonly said: 'bid'; readonly agent_id: string; readonly claim_id: string }
  | { readonly said: 'granted'; readonly claim_id: string; readonly at_ms: number };

/** One clock for all processes of a machine, unlike `performance.now()`. */
export function monotonic_ms(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Found {
  readonly claim_id: string;
  readonly artefact_type: string;
}

/** Each reviews what is called as itself and ignores the rest. */
export async function startAgents(store: string, names: readonly string[], tell: (news: AgentNews) => void) {
  const crew = await connectAll(store, names);
  const over = new AbortController();
  const agents = Object.entries(crew).map(async ([agent_id, client]) => {
    const options = { signal: over.signal, onWaiting: () => tell({ said: 'waits', agent_id }) };
    while (!over.signal.aborted) {
      const answer: JsonObject = await client.call('my_grants', { wait_seconds: 60 }, options);
      const at_ms = monotonic_ms();
      if (answer.success !== true) throw new Error(JSON.stringify(answer));
      for (const { claim_id } of answer.grants as unknown as Found[]) {
        tell({ said: 'granted', claim_id, at_ms });
        await doPart(client, claim_id, 'review');
      }
      for (const { claim_id, artefact_type } of answer.open_bids as unknown as Found[]) {
        const bid = artefact_type === agent_id ? 'review' : 'ignore';
        await granted(client, 'place_bid', { claim_id, bid });
        tell({ said: 'bid', agent_id, claim_id });
      }
    }
  });
  return {
    async close() {
      over.abort();
      await Promise.all(agents);
      await closeAll(crew);
    },
  };
}
