import { clientIdentity, readProcess } from '../../child-process/client-process.ts';
import { quickClock } from '../../kernel/clock.ts';
import { fingerprint } from '../../kernel/fingerprint.ts';
import { quickRandom } from '../../kernel/quick-random.ts';
import { findWorkspace, type Workspace } from '../../kernel/workspace.ts';
import type { Actor } from '../../ledger/log.ts';
import { chooseStore } from '../../runtime/choose-store.ts';
import type { OpenOptions } from '../../runtime/coxswain.ts';
import { defaultStore, type OpenedLedger, openLedger } from '../../runtime/open-ledger.ts';
import { type Client, clientActor } from '../shared/agent-clients.ts';
import type { HookCall, Order } from './hook-call.ts';
import { hookEntities } from './hook-entities.ts';
import { startedBy } from './quick.ts';

/** The process we are in. */
export interface HookSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Set by the client for its hooks: the folder it was started in. */
const PROJECT_VARIABLES: Record<Client, string | undefined> = {
  'claude-code': 'CLAUDE_PROJECT_DIR',
  codex: undefined,
  'gemini-cli': 'GEMINI_PROJECT_DIR',
};

/**
 * The repository that is meant: the one that the client's MCP server serves too. An agent that has moved
 * elsewhere (`cd` in its shell) still works for that one. Only if the client does not say so does the agent's
 * folder decide.
 */
export function workspaceFor(order: Order, call: HookCall, around: HookSurroundings): Workspace {
  const found = meantBy(order, call, around);
  // Creating a store there would bring back a work tree that was removed.
  if (found.gitCommonDir === undefined && found.fs.lstat(found.root) === undefined)
    throw new Error(`${found.root} is not there any more`);
  return found;
}

function meantBy({ client }: Order, call: HookCall, { env, cwd }: HookSurroundings): Workspace {
  const named = PROJECT_VARIABLES[client];
  const project = named === undefined ? undefined : env[named];
  if (project?.startsWith('/')) return findWorkspace(project);
  const around = findWorkspace(call.cwd);
  if (around.gitCommonDir !== undefined) return around;
  const own = findWorkspace(cwd);
  const isInside = call.cwd === cwd || call.cwd.startsWith(`${cwd}/`);
  return isInside || own.gitCommonDir !== undefined ? own : around;
}

/** Where the store is or would be; for files kept beside it. */
export function storeUrl(order: Order, workspace: Workspace, env: NodeJS.ProcessEnv): string {
  return chooseStore(order.store, env).url ?? defaultStore(workspace);
}

function actorFor({ client }: Order, { conversation }: HookCall, env: NodeJS.ProcessEnv): Actor {
  const who = clientActor(
    client,
    env,
    {},
    () => clientIdentity(client, readProcess, startedBy(env)) ?? unknownClient(client, conversation),
  );
  if (!who.ok) throw new Error(who.refusal.message);
  return who.identity as Actor;
}

/** Without a process to identify the client by, its conversation is the next best. */
function unknownClient(client: Client, conversation: string): Partial<Actor> {
  const name = fingerprint(conversation);
  return { agent_id: `${client}-${name.slice(0, 6)}`, session_id: `${client}-${name}` };
}

/** The agent that a hook acts for, and the store of its repository: opened directly and never through a neighbour. */
export interface HookLedger extends OpenedLedger {
  readonly actor: Actor;
  /** For what is put together on it later. */
  readonly options: OpenOptions;
}

export async function openHookLedger(
  order: Order,
  call: HookCall,
  around: HookSurroundings,
): Promise<HookLedger> {
  const { env } = around;
  const actor = actorFor(order, call, env);
  const workspace = workspaceFor(order, call, around);
  // If a power cut loses a lock, its agent is gone too. A hand-off is for the agents that come later, so it
  // must be durable.
  const lasting = order.event !== 'before-tool';
  const quick = { brief: true, lasting, clock: quickClock, random: quickRandom() };
  const options = { store: order.store, workspace, env, entities: hookEntities, ...quick };
  return { ...(await openLedger(options)), actor, options };
}
