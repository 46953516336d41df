import { clientProcess, hasEnded } from '../../child-process/client-process.ts';
import { readPortConfig } from '../../features/port-blocks/index.ts';
import { readChannels } from '../../features/trust/notify/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Terminal } from '../cli/output/terminal.ts';
import { type CommonOptions, claimedIdentity, placeOf } from '../cli/program/common.ts';
import { untilStopped } from '../cli/program/signals.ts';
import { type Client, clientActor } from '../shared/agent-clients.ts';
import { type Checked, environmentCapabilities, environmentRole } from '../shared/identity.ts';
import { chooseTools } from './toolset.ts';

export interface McpOptions extends CommonOptions {
  readonly tools?: string;
  readonly client?: Client;
}

/** `cox mcp`: runs until the client goes away or the process is told to stop. Returns why it did not run. */
export async function serveStdio(options: McpOptions, terminal: Terminal): Promise<Refusal | undefined> {
  const tools = chooseTools(options.tools);
  if ('success' in tools) return tools;
  const identity = identityOf(options, terminal.env);
  if (!identity.ok) return identity.refusal;
  // Looked up now: once the client has gone, another process is our parent.
  const client = options.client === undefined ? undefined : clientProcess();
  const ports = readPortConfig(terminal.env);
  if ('success' in ports) return ports;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const channels = readChannels(terminal.env, terminal.cwd);
  if (!Array.isArray(channels)) return channels;
  const stopped = untilStopped();
  try {
    const { serveMcp } = await import('./mcp-stdio.ts');
    const log = (text: string) => void terminal.err(`cox mcp: ${text}\n`).catch(() => {});
    if (chosen.place.notice !== undefined) log(chosen.place.notice);
    const capabilities = environmentCapabilities(terminal.env);
    const { place } = chosen;
    const configured = claimedIdentity(options, terminal.env);
    const clientIsGone = client === undefined ? undefined : () => isGone(client);
    await serveMcp({
      tools,
      identity: identity.identity,
      capabilities,
      unnamed: configured.ok && configured.identity.agent_id === undefined,
      agent_role: environmentRole(terminal.env),
      place,
      stop: stopped.signal,
      clientIsGone,
      channels,
      log,
    });
  } finally {
    stopped.dispose();
  }
  return undefined;
}

function identityOf(options: McpOptions, env: NodeJS.ProcessEnv): Checked {
  const claimed = claimedIdentity(options, env);
  if (!claimed.ok || options.client === undefined) return claimed;
  return clientActor(options.client, env, claimed.identity);
}

/** A process that is killed closes its pipes a moment before it is gone. */
const GOING_MS_MAX = 250;
const LOOK_EVERY_MS = 10;

async function isGone(client: Parameters<typeof hasEnded>[0]): Promise<boolean> {
  const started_ms = systemClock.elapsed_ms();
  while (!hasEnded(client)) {
    if (systemClock.elapsed_ms() - started_ms > GOING_MS_MAX) return false;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  return true;
}
