import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  cliIdentity,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { lookAround } from '../take-overview.ts';
import { statusLines } from './status-screen.ts';

export async function describeStatus(options: CommonOptions, terminal: Terminal): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  return await withStoreThere(options, terminal, async (coxswain, { notice }) => {
    const { seen, now_ms } = await lookAround(coxswain);
    const about = {
      agent_id: who.actor.agent_id,
      seen_at: isoTime(now_ms),
      ...(notice === undefined ? {} : { notice }),
    };
    return { success: true, ...about, ...seen };
  });
}

export async function showStatus(options: CommonOptions, terminal: Terminal, result: Result): Promise<void> {
  const answer = await describeStatus(options, terminal);
  if (options.json === true || isRefusal(answer)) return await conclude(terminal, answer, options, result);
  // The store's own time, so that "ten seconds ago" is correct.
  const view = viewOf(terminal, { color: options.color, now_ms: Date.parse(String(answer.seen_at)) });
  await terminal.out(`${statusLines(answer, view).join('\n')}\n`);
}
