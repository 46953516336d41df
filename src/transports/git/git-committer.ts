import {
  clientIdentity,
  clientProcess,
  type ReadProcess,
  readProcess,
  starter,
} from '../../child-process/client-process.ts';
import { type SessionState, sessionKey } from '../../features/sessions/index.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';

/** The clients whose hooks and MCP server derive their identity from the client's process. */
const CLIENTS = ['claude-code', 'codex', 'gemini-cli'] as const;
/** From a git hook up to the client: a shell or two, git, the caller of git, and a few wrappers. */
const GENERATIONS_MAX = 24;

/**
 * Variables that clients set for the commands they run. They only decide how we phrase the message, not which
 * agent it is.
 */
const AGENT_SIGNS = ['CLAUDECODE', 'GEMINI_CLI', 'CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED'] as const;

/** Who commits: an agent that named itself or whose client is among our ancestors; otherwise a person. */
export interface Committer {
  readonly agent_id: string;
  readonly isAgent: boolean;
}

export async function findCommitter(
  { store, project }: Coxswain,
  fallback: Actor,
  env: NodeJS.ProcessEnv,
  read: ReadProcess = readProcess,
  from = starter(),
): Promise<Committer> {
  if (env.AGENT_ID) return { agent_id: fallback.agent_id, isAgent: true };
  const candidates = possibleClients(read, from);
  const { loaded } = await store.find(project, { keys: candidates.map(sessionKey) });
  // The nearest one: an agent may have started another.
  const found = candidates.find((candidate) => {
    const record = loaded.get<SessionState>(sessionKey(candidate));
    return record !== undefined && record.state.ended_at_ms === undefined;
  });
  if (found !== undefined) return { agent_id: found.agent_id, isAgent: true };
  return { agent_id: fallback.agent_id, isAgent: AGENT_SIGNS.some((name) => Boolean(env[name])) };
}

/**
 * A process does not say that it is a client. Each ancestor could be any of the clients, and the one with a
 * session is the committer.
 */
function possibleClients(read: ReadProcess, from: number): Actor[] {
  const found: Actor[] = [];
  let pid = from;
  for (let generation = 0; generation < GENERATIONS_MAX; generation += 1) {
    const above = clientProcess(read, pid);
    if (above === undefined) break;
    for (const client of CLIENTS) {
      const identity = clientIdentity(client, () => above, above.pid);
      if (identity !== undefined) found.push(identity);
    }
    pid = above.parent;
  }
  return found;
}
