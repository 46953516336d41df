import type { JsonObject } from '../../../kernel/json.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { readNumber } from '../../../transports/shared/input-fields.ts';
import { routeWork } from '../operations/route-work-operation.ts';

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
  return await withStoreThere(options, terminal, async (coxswain) =>
    coxswain.connect(who.actor, 'operator', cliShowing(terminal.env)).perform(routeWork, input),
  );
}

/** `alice=architect`: names may contain an equals sign, roles don't, so the last one separates them. */
function readAgent(text: string): JsonObject {
  const cut = text.lastIndexOf('=');
  return cut === -1 ? { agent_id: text } : { agent_id: text.slice(0, cut), agent_role: text.slice(cut + 1) };
}
