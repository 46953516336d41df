import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { type CommonOptions, cliIdentity, withStoreThere } from '../../../transports/cli/program/common.ts';
import { readMoment } from '../../audit/cli/index.ts';
import { getStats } from '../../audit/index.ts';

export interface StatsOptions extends CommonOptions {
  readonly since?: string;
}

export async function showStats(options: StatsOptions, terminal: Terminal): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  return await withStoreThere(options, terminal, async (coxswain) => {
    const input: { since?: string } = {};
    if (options.since !== undefined) {
      const read = await readMoment(coxswain, 'since', options.since);
      if (!read.ok) return read.refusal;
      if ('position' in read.moment) return invalid('since', 'a time: the metrics are counted by it');
      input.since = isoTime(read.moment.at_ms);
    }
    return await coxswain.connect(who.actor, 'operator', { door: 'cli' }).perform(getStats, input);
  });
}
