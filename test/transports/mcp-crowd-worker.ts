// Many clients of one server at once. Arguments: the address, and how many. Prints what each of them was, as JSON.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import { connectClient, type McpClient } from './mcp-support.ts';

/** So many shake hands at a time; afterwards all of them speak at once. */
const CONNECTING = 100;

export interface Crowd {
  readonly holders: string[];
  readonly sessions: string[];
  /** How many got the one file that all of them wanted. */
  readonly winners: number;
}

async function connectOne(url: string, index: number): Promise<McpClient> {
  const name = `client-${index}`;
  return index % 2 === 0
    ? await connectClient(url, { revision: 'legacy', name })
    : await connectClient(url, { headers: { 'x-agent-id': `agent-${index}` }, name });
}

/** Its own file, seen to be its own; and one that all of them want, which only one can have. */
async function holdOne(client: McpClient, index: number) {
  const file_path = `own-${index}.ts`;
  const reason = `reason ${index}`;
  const [own, wanted] = await Promise.all([
    client.call('acquire_lock', { file_path, reason }),
    client.call('acquire_lock', { file_path: 'wanted.ts', reason }),
  ]);
  assert.deepEqual([own.answer.action, own.answer.file_path], ['acquired', file_path]);
  assert.equal(wanted.answer.file_path, 'wanted.ts');
  const { answer } = await client.call('check_locks', { file_paths: [file_path] });
  const [lock] = answer.locks as JsonObject[];
  assert.deepEqual([lock?.file_path, lock?.reason, lock?.agent_type], [file_path, reason, `client-${index}`]);
  if (index % 2 === 1) assert.equal(lock?.locked_by, `agent-${index}`);
  return {
    holder: String(lock?.locked_by),
    session: String(lock?.session_id),
    won: wanted.answer.success === true,
  };
}

const [url = '', count = ''] = process.argv.slice(2);
const indices = Array.from({ length: Number(count) }, (_, index) => index);
const clients: McpClient[] = [];
for (let first = 0; first < indices.length; first += CONNECTING)
  clients.push(
    ...(await Promise.all(indices.slice(first, first + CONNECTING).map((index) => connectOne(url, index)))),
  );
// Every client counts its requests from the same number, so an answer that went astray would be taken for one's own.
const held = await Promise.all(clients.map((client, index) => holdOne(client, index)));
await Promise.all(
  clients.map(async (client, index) => {
    const { answer } = await client.call('release_lock', { file_path: `own-${index}.ts` });
    assert.deepEqual([answer.success, answer.file_path], [true, `own-${index}.ts`]);
  }),
);
const crowd: Crowd = {
  holders: held.map(({ holder }) => holder),
  sessions: held.map(({ session }) => session),
  winners: held.filter(({ won }) => won).length,
};
process.stdout.write(JSON.stringify(crowd), () => process.exit());
