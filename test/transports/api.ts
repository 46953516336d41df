import { Agent } from 'node:http';
import type { Clock } from '../../src/kernel/clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import {
  type CoordinationApi,
  type CoordinationApiOptions,
  createCoordinationApi,
} from '../../src/transports/http/index.ts';
import { exchange, type Reply } from './support.ts';

/** Keys as the environment gives them: one for any agent, one for alice, who is a codex. */
export const SERVICE = 'service-key-of-the-tests';
export const ALICE = 'alice-key-of-the-tests';
export const ENV = {
  COORDINATION_API_KEYS: SERVICE,
  COORDINATION_API_KEY_IDENTITIES: JSON.stringify({ [ALICE]: { agent_id: 'alice', agent_type: 'codex' } }),
};

export interface ApiDoor extends AsyncDisposable {
  readonly api: CoordinationApi;
  readonly url: string;
  ask(method: string, path: string, headers?: Record<string, string>, body?: string | Buffer): Promise<Reply>;
  post(path: string, body: JsonObject, headers?: Record<string, string>): Promise<Reply>;
  /** A key made by the operator: its text and its id. */
  key(input: JsonObject): Promise<{ key: string; key_id: string }>;
  operator(name: string, input: JsonObject): Promise<JsonObject>;
}

/** The API inside this process, on a free port and a store in memory unless told otherwise. */
export async function startApi(options: CoordinationApiOptions = {}): Promise<ApiDoor> {
  const api = await createCoordinationApi({
    store: 'memory:',
    port: 0,
    env: ENV,
    rate_per_minute: 0,
    ...options,
  });
  const url = await api.listen();
  const agent = new Agent({ keepAlive: true });
  const ask: ApiDoor['ask'] = (method, path, headers = {}, body) =>
    exchange(agent, url, method, path, body, headers);
  const operator: ApiDoor['operator'] = async (name, input) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await api.coxswain.connect({ agent_id: 'operator' }).perform(operation, input);
  };
  return {
    api,
    url,
    ask,
    operator,
    post: (path, body, headers = {}) =>
      ask('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body)),
    key: async (input) => (await operator('create_key', input)) as unknown as { key: string; key_id: string },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await api.stop();
    },
  };
}

export const withKey = (key: string): Record<string, string> => ({ 'x-api-key': key });

/** A clock that can be set forward; what sleeps, sleeps as always. */
export function settableClock(): Clock & { forward_ms: number } {
  const clock = {
    forward_ms: 0,
    now_ms: () => systemClock.now_ms() + clock.forward_ms,
    elapsed_ms: () => systemClock.elapsed_ms() + clock.forward_ms,
    sleep: systemClock.sleep,
  };
  return clock;
}
