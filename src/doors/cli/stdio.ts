import type { Refusal } from '../../kernel/refusal.ts';
import { readPortConfig } from '../../ports/config.ts';
import { environmentCapabilities } from '../identity.ts';
import { chooseTools } from '../mcp/toolset.ts';
import { type CommonOptions, claimedIdentity, placeOf } from './common.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

export interface McpOptions extends CommonOptions {
  readonly tools?: string;
}

/** `cox mcp`: runs until the client goes away or the process is told to stop. Answers why it did not run. */
export async function serveStdio(options: McpOptions, terminal: Terminal): Promise<Refusal | undefined> {
  const tools = chooseTools(options.tools);
  if ('success' in tools) return tools;
  const identity = claimedIdentity(options, terminal.env);
  if (!identity.ok) return identity.refusal;
  const ports = readPortConfig(terminal.env);
  if ('success' in ports) return ports;
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const stopped = untilStopped();
  try {
    const { serveMcp } = await import('../mcp/stdio.ts');
    const log = (text: string) => void terminal.err(`cox mcp: ${text}\n`).catch(() => {});
    if (chosen.place.notice !== undefined) log(chosen.place.notice);
    const capabilities = environmentCapabilities(terminal.env);
    const { place } = chosen;
    await serveMcp({ tools, identity: identity.identity, capabilities, place, stop: stopped.signal, log });
  } finally {
    stopped.dispose();
  }
  return undefined;
}
