import type { JsonObject } from '../../kernel/json.ts';
import { getStats } from '../../operations/get-stats.ts';
import { type CommonOptions, cliIdentity, withStore } from './common.ts';
import type { Terminal } from './terminal.ts';

export interface StatsOptions extends CommonOptions {
  readonly since?: string;
}

export async function showStats(options: StatsOptions, terminal: Terminal): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  const input = options.since === undefined ? {} : { since: options.since };
  return await withStore(options, terminal, (coxswain) =>
    coxswain.connect(who.actor, 'operator', { door: 'cli' }).perform(getStats, input),
  );
}
