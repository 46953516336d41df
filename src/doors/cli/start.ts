import type { JsonObject } from '../../kernel/json.ts';
import { routeWork } from '../../operations/route-work.ts';
import { readNumber } from '../fields.ts';
import { type CommonOptions, cliIdentity, cliShowing, withStore } from './common.ts';
import type { Terminal } from './terminal.ts';

export interface StartOptions extends CommonOptions {
  readonly agents?: string[];
  readonly limit?: string;
}

export async function start(options: StartOptions, terminal: Terminal): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  const { agents, limit } = options;
  const input = {
    ...(agents === undefined ? {} : { agents: agents.map(readAgent) }),
    ...(limit === undefined ? {} : { limit: readNumber(limit) }),
  };
  return await withStore(options, terminal, async (coxswain) =>
    coxswain.connect(who.actor, 'operator', cliShowing(terminal.env)).perform(routeWork, input),
  );
}

/** `alice=architect`: names may hold an equals sign, roles do not, so the last one parts them. */
function readAgent(text: string): JsonObject {
  const cut = text.lastIndexOf('=');
  return cut === -1 ? { agent_id: text } : { agent_id: text.slice(0, cut), agent_role: text.slice(cut + 1) };
}
