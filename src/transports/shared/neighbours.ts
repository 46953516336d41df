import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { clientIdentity, readProcess } from '../../child-process/client-process.ts';
import { discoverNeeds, type SessionState } from '../../features/sessions/index.ts';
import { findWorkspace } from '../../kernel/workspace.ts';
import type { SessionName } from '../../ledger/log.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';

/**
 * The other agents that work in the same work tree, as far as their processes tell: no system says which process has written a file,
 * so what changes there may be theirs. Where processes can't be looked at (not on Linux) no neighbour is known.
 */
export class Neighbours {
  readonly #coxswain: Coxswain;
  /** Our own session, and the one we were started in. */
  readonly #own: ReadonlySet<string>;

  constructor(coxswain: Coxswain, own: ReadonlySet<string>) {
    this.#coxswain = coxswain;
    this.#own = own;
  }

  /** Looked for each time: a few milliseconds, and one that has just come may be the one who wrote. */
  async here(root: string = this.#coxswain.workspace.root): Promise<SessionName[]> {
    if (process.platform !== 'linux') return [];
    const sessions = await this.#sessions();
    if (sessions.size === 0) return [];
    const found = sessionsIn(root, sessions);
    return [...sessions].flatMap(([session_id, agent_id]) =>
      found.has(session_id) ? [{ agent_id, session_id }] : [],
    );
  }

  async #sessions(): Promise<Map<string, string>> {
    const { store, project } = this.#coxswain;
    const { ranges = [] } = discoverNeeds({ idle_ms: 0 });
    const { loaded } = await store.find(project, { ranges });
    const states = ranges.flatMap((range) => loaded.list<SessionState>(range)).map(({ state }) => state);
    const others = states.filter(({ session_id }) => !this.#own.has(session_id));
    return new Map(others.map(({ session_id, agent_id }) => [session_id, agent_id]));
  }
}

/** Which of these sessions have a process in this work tree. */
function sessionsIn(root: string, sessions: ReadonlyMap<string, string>): Set<string> {
  const clients = new Set([...sessions.keys()].flatMap((id) => /^(.+)-[0-9a-f]{12}$/.exec(id)?.[1] ?? []));
  const found = new Set<string>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    // A client's session is named after its process; one of `cox run` stands in the environment of what it runs.
    const named = [...clients].map((client) => clientIdentity(client, readProcess, pid)?.session_id);
    const ids = [...named, environmentSession(pid)].filter((id) => id !== undefined && sessions.has(id));
    if (ids.length > 0 && isIn(root, pid)) for (const id of ids) if (id !== undefined) found.add(id);
  }
  return found;
}

function environmentSession(pid: number): string | undefined {
  try {
    return /\0SESSION_ID=([^\0]+)/.exec(`\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`)?.[1];
  } catch {
    return undefined;
  }
}

/** A worktree inside another one is a work tree of its own. */
function isIn(root: string, pid: number): boolean {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return (cwd === root || cwd.startsWith(`${root}/`)) && findWorkspace(cwd).root === root;
  } catch {
    return false;
  }
}
