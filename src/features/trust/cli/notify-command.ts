import type { JsonObject } from '../../../kernel/json.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { type CommonOptions, withStoreThere } from '../../../transports/cli/program/common.ts';
import { readChannels } from '../notify/channels.ts';
import { deliverAll } from '../notify/courier.ts';

/** Enough for every attempt of a channel; too short to wait for what another process is sending. */
const NOTIFY_MS_MAX = 45_000;

export async function notify(options: CommonOptions, terminal: Terminal): Promise<JsonObject> {
  const channels = readChannels(terminal.env, terminal.cwd);
  if (!Array.isArray(channels)) return channels;
  return await withStoreThere(options, terminal, async (coxswain) => {
    const told = await deliverAll(coxswain, channels, NOTIFY_MS_MAX);
    return { success: true, channels: channels.map(({ name }) => name), ...told };
  });
}
