import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, type Scratch, startHttp, startMcp, stateFolder } from './support.ts';

export interface Agent {
  call(operation: string, input?: JsonObject): Promise<JsonObject>;
  /** The same one, for calls that are no part of the story: how often they are made is chance. */
  readonly aside?: Agent;
}

/** One way in, with any number of agents behind it, all on the same store. */
export interface Door extends AsyncDisposable {
  agent(name: string): Promise<Agent>;
}

const identityOf = (name: string) => ({
  agent_id: name,
  agent_type: 'tester',
  session_id: `session-${name}`,
});

function library({ store, folder }: Scratch): Door {
  const closing: (() => Promise<void>)[] = [];
  return {
    async agent(name) {
      const client = await connect({
        store,
        cwd: folder,
        env: { COX_STATE_DIR: stateFolder(folder) },
        ...identityOf(name),
      });
      closing.push(() => client.close());
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close();
    },
  };
}

/** The words a person would type for it. */
export function toWords(name: string, input: JsonObject): string[] {
  const operation = operationsByName.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const positional = operation.positional ?? [];
  const flags: string[] = [];
  for (const [field, value] of Object.entries(input)) {
    if (positional.includes(field) || value === undefined) continue;
    const flag = `--${field.replaceAll('_', '-')}`;
    if (typeof value === 'boolean') flags.push(value ? flag : `--no-${flag.slice(2)}`);
    else if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
      flags.push(flag, ...value);
    else flags.push(flag, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  const words = positional.flatMap((field) => input[field] ?? []).map(String);
  return [operation.group, operation.verb, ...flags, '--', ...words];
}

/** Where a person names a file, the text is in one. */
export function inFile(name: string, input: JsonObject, folder: string): JsonObject {
  const field = operationsByName.get(name)?.file;
  if (field === undefined || typeof input[field] !== 'string') return input;
  const path = join(folder, 'given.yaml');
  writeFileSync(path, input[field]);
  return { ...input, [field]: path };
}

/** The command line without its processes: `cli.test.ts` starts those. */
function cli({ store, folder }: Scratch): Door {
  return {
    async agent(name) {
      const { agent_id, agent_type, session_id } = identityOf(name);
      const env = { AGENT_ID: agent_id, AGENT_TYPE: agent_type, SESSION_ID: session_id, COX_STORE: store };
      return {
        async call(operation, input = {}) {
          const [group = '', verb = '', ...rest] = toWords(operation, inFile(operation, input, folder));
          const { terminal, written } = fakeTerminal(folder, env);
          await main([group, verb, '--json', ...rest], terminal);
          return JSON.parse(written.out) as JsonObject;
        },
      };
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function http(scratched: Scratch): Promise<Door> {
  const server = await startHttp(scratched);
  return {
    async agent(name) {
      const { agent_id, agent_type, session_id } = identityOf(name);
      const headers = { 'x-agent-id': agent_id, 'x-agent-type': agent_type, 'x-session-id': session_id };
      return {
        async call(operation, input = {}) {
          const { method = 'POST', path = '/' } = operationsByName.get(operation)?.route ?? {};
          if (method === 'GET') {
            const query = new URLSearchParams();
            for (const [name, value] of Object.entries(input))
              if (value !== undefined) query.append(name, String(value));
            return (await server.send('GET', `${path}?${query}`, undefined, headers)).body;
          }
          return (await server.post(path, input, headers)).body;
        },
      };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function mcp(scratched: Scratch): Door {
  const closing: AsyncDisposable[] = [];
  return {
    async agent(name) {
      const { agent_id, agent_type, session_id } = identityOf(name);
      const env = { AGENT_ID: agent_id, AGENT_TYPE: agent_type, SESSION_ID: session_id };
      const client = await startMcp(scratched, { env, args: ['--tools', 'all'] });
      closing.push(client);
      return { call: async (operation, input = {}) => (await client.call(operation, input)).answer };
    },
    async [Symbol.asyncDispose]() {
      for (const client of closing) await client[Symbol.asyncDispose]();
    },
  };
}

export const doors = { library, cli, http, mcp };
