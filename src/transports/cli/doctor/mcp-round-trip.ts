import type { JsonObject } from '../../../kernel/json.ts';
import { version } from '../../../kernel/version.ts';
import type { Configured } from './configured.ts';
import { type DoctorFinding, ok, wrong } from './doctor-finding.ts';
import { JsonRpcProcess } from './json-rpc.ts';

const LIMIT_MS = 20_000;
const REVISION = '2025-06-18';

/** Starts exactly what the client would start, and sends the requests the client would send. */
export async function checkMcp(
  check: string,
  server: NonNullable<Configured['server']>,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<DoctorFinding> {
  // Looking after one's health is no work: no session comes of it.
  const env = { ...options.env, COX_PRESENCE: 'off' };
  try {
    await using process = new JsonRpcProcess(server.command, server.args, {
      cwd: options.cwd,
      env,
      limit_ms: LIMIT_MS,
    });
    await process.ask('initialize', {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: 'cox-doctor', version: version() },
    });
    process.tell('notifications/initialized');
    const { tools } = (await process.ask('tools/list')) as { tools?: JsonObject[] };
    const answer = await process.ask('tools/call', { name: 'check_locks', arguments: {} });
    const { locks, success, message } = (answer.structuredContent ?? {}) as JsonObject;
    if (success === false || !Array.isArray(locks))
      return wrong(
        check,
        `check_locks answered: ${String(message ?? JSON.stringify(answer)).slice(0, 200)}`,
        'See the store above.',
      );
    return ok(check, `${tools?.length ?? 0} tools, check_locks answers`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return wrong(
      check,
      `${[server.command, ...server.args].join(' ')}: ${said}`,
      'Run `cox init` to write the command anew.',
    );
  }
}
