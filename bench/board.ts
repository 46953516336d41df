/** Our board with agents that do nothing, through the public entry only. */
import { type Client, connect } from '../src/index.ts';
import type { JsonObject } from '../src/kernel/json.ts';

/** The board's own word for each of the three parts of a claim. */
export type Bid = 'review' | 'claim' | 'exclusive' | 'ignore';

export interface Bidder {
  readonly agent_id: string;
  /** Placed for it in the commit that opens a claim; without one it is asked and has to call. */
  readonly standing?: Bid;
  readonly target_types?: string[];
}

const SECONDS_MAX = 24 * 3600;

/** A refusal is quick to give: counting one as work done would flatter us. */
export async function granted(client: Client, operation: string, input: JsonObject): Promise<JsonObject> {
  const answer = await client.call(operation, input);
  if (answer.success !== true) throw new Error(`${operation}: ${JSON.stringify(answer)}`);
  return answer;
}

/** Every agent is waited for and no agent's time runs out: what is measured is never a deadline. */
export async function setRoster(client: Client, bidders: readonly Bidder[]): Promise<void> {
  await granted(client, 'configure_board', {
    bid_deadline_seconds: 0,
    review_seconds: SECONDS_MAX,
    parallel_seconds: SECONDS_MAX,
    exclusive_seconds: SECONDS_MAX,
    agents: bidders.map(({ agent_id, standing, target_types }) => ({
      agent_id,
      role: agent_id,
      ...(standing === undefined ? {} : { bidding: standing }),
      ...(target_types === undefined ? {} : { target_types }),
    })),
  });
}

export async function publish(client: Client, type: string): Promise<string> {
  const payload = 'something that has to be done';
  const { claim_id } = await granted(client, 'publish_artefact', { type, payload });
  if (typeof claim_id !== 'string') throw new Error(`${type} opened no claim`);
  return claim_id;
}

/** Begins with a part of a claim and hands it in at once. What comes of it opens no claim: one claim stays one. */
export async function doPart(client: Client, claim_id: string, bid: Bid): Promise<JsonObject> {
  await granted(client, 'take_grant', { claim_id });
  const contents =
    bid === 'review'
      ? { type: 'Approval', payload: '{}' }
      : { type: 'Work', payload: 'something that was done', structural_type: 'Terminal' };
  return await granted(client, 'deliver_artefact', { claim_id, ...contents });
}

export const PARTS: Readonly<Record<string, Bid>> = {
  reviewer: 'review',
  worker: 'claim',
  closer: 'exclusive',
};

export type Crew = Record<string, Client>;

export async function connectAll(store: string, names: readonly string[]): Promise<Crew> {
  const clients = await Promise.all(
    names.map(async (agent_id) => [agent_id, await connect({ store, agent_id })] as const),
  );
  return Object.fromEntries(clients);
}

export async function closeAll(crew: Crew): Promise<void> {
  for (const client of Object.values(crew)) await client.close();
}

export function member(crew: Crew, name: string): Client {
  const client = crew[name];
  if (client === undefined) throw new Error(`nobody is called ${name}`);
  return client;
}
