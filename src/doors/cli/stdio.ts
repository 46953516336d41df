import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { operations } from '../../operations/index.ts';
import { readPortConfig } from '../../ports/config.ts';
import { type CommonOptions, claimedIdentity, placeOf } from './common.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

export interface McpOptions extends CommonOptions {
  readonly tools?: string;
}

/** `cox mcp`: runs until the client goes away or the process is told to stop. Answers why it did not run. */
export async function serveStdio(options: McpOptions, terminal: Terminal): Promise<Refusal | undefined> {
  const set = options.tools ?? 'standard';
  const tools = chooseTools(set);
  if (tools.length === 0) {
    const groups = [...new Set(offered.map(({ group }) => group))].join(',');
    return refuse('invalid_input', `tools: expected standard, all or some of ${groups}`, { field: 'tools' });
  }
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
    await serveMcp({ tools, identity: identity.identity, place: chosen.place, stop: stopped.signal, log });
  } finally {
    stopped.dispose();
  }
  return undefined;
}

const offered = operations.filter(({ administers }) => administers !== true);

function chooseTools(set: string) {
  if (set === 'all') return offered;
  if (set === 'standard') return offered.filter(({ standard }) => standard);
  const groups = set.split(',').map((group) => group.trim());
  const known = groups.every((group) => offered.some((operation) => operation.group === group));
  return known ? offered.filter(({ group }) => groups.includes(group)) : [];
}
