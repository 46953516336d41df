import { clientIdentity } from '../../child-process/client-process.ts';
import type { Actor } from '../../ledger/log.ts';
import { type Checked, checkIdentity, environmentIdentity } from './identity.ts';

/** The agent clients that have hooks, and by whose process hooks and MCP server know each other. */
export const CLIENTS = ['claude-code', 'codex', 'gemini-cli'] as const;

export type Client = (typeof CLIENTS)[number];

export function isClient(text: unknown): text is Client {
  return CLIENTS.some((client) => client === text);
}

/** Who acts for a client: what is said about it, else its environment; the rest comes from its process. */
export function clientActor(
  client: Client,
  env: NodeJS.ProcessEnv,
  said: Partial<Actor> = {},
  derive: () => Partial<Actor> | undefined = () => clientIdentity(client),
): Checked {
  const inherited = environmentIdentity(env);
  const agent_id = said.agent_id ?? inherited.agent_id;
  const session_id = said.session_id ?? inherited.session_id;
  // Looking for the client's process takes a while, and is of no use to who says all of it.
  const derived = agent_id === undefined || session_id === undefined ? derive() : undefined;
  return checkIdentity({
    agent_id: agent_id ?? derived?.agent_id,
    agent_type: said.agent_type ?? inherited.agent_type ?? client,
    session_id: session_id ?? derived?.session_id,
  });
}
