// One agent in a process of its own: waits for the word, calls at random until its time is over, prints its history.
import { once } from 'node:events';
import { type Client, connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { Seeded } from '../simulation/random.ts';
import { record } from './history.ts';
import { type LockCall, lockAnswer, type QueueCall, queueAnswer } from './models.ts';

export interface Assignment {
  readonly store: string;
  readonly cwd: string;
  readonly agent_id: string;
  readonly sits: boolean;
  readonly seed: number;
  readonly duration_ms: number;
}

const PATHS = ['a.ts', 'b.ts', 'c.ts'];
const TYPES = ['build', 'test'];
/** A little more is asked for than is submitted: in a long queue an order shows late, and the search gets long too. */
const VERBS = ['submit', 'submit', 'submit', 'get', 'get', 'get', 'get', 'complete', 'complete'] as const;
const MINUTES = 480;

/** The store was away or the answer got lost: it may have happened. */
const UNKNOWN = new Set(['database_unavailable', 'internal_error', 'store_moved', 'disk_full']);

async function ask(client: Client, operation: string, input: JsonObject): Promise<JsonObject | undefined> {
  const answer = await client.call(operation, input);
  return UNKNOWN.has(String(answer.error)) ? undefined : answer;
}

async function useLock(client: Client, random: Seeded): Promise<void> {
  const file_path = random.pick(PATHS);
  const verb = random.pick(['acquire', 'acquire', 'release', 'release', 'check'] as const);
  const { agent_id = '' } = client.actor;
  const call: LockCall = { verb, agent_id };
  await record(`lock/${file_path}`, call, async () => {
    const input: JsonObject = verb === 'check' ? { file_paths: [file_path] } : { file_path };
    if (verb === 'acquire') input.ttl_minutes = MINUTES;
    const answer = await ask(client, verb === 'check' ? 'check_locks' : `${verb}_lock`, input);
    return answer === undefined ? undefined : lockAnswer(answer);
  });
}

/** `claims` holds what it was handed: type, the task's name and its id. */
async function useQueue(
  client: Client,
  random: Seeded,
  claims: [string, string, string][],
  name: string,
): Promise<void> {
  const { agent_id = '' } = client.actor;
  const verb = random.pick(VERBS);
  const [task_type, claimed, task_id] =
    verb === 'complete' ? (claims.pop() ?? []) : [random.pick(TYPES), '', ''];
  if (task_type === undefined || claimed === undefined) return;
  const priority = random.pick([3, 7]);
  const call: QueueCall =
    verb === 'submit'
      ? { verb, name, priority }
      : verb === 'get'
        ? { verb, agent_id }
        : { verb, agent_id, name: claimed };
  const input: JsonObject =
    verb === 'submit'
      ? { task_type, task_description: name, priority }
      : verb === 'get'
        ? { task_types: [task_type], lease_minutes: MINUTES }
        : { task_id, success: true };
  await record(`queue/${task_type}`, call, async () => {
    const answer = await ask(client, `${verb}_work`, input);
    if (verb === 'get' && answer?.success === true)
      claims.push([task_type, String(answer.task_description), String(answer.task_id)]);
    return answer === undefined ? undefined : queueAnswer(verb, answer);
  });
}

const { seed, duration_ms, ...identity } = JSON.parse(process.argv[2] ?? '{}') as Assignment;
const random = new Seeded(seed);
const client = await connect({ ...identity, agent_type: 'worker' });
await client.call('check_locks');
process.stdout.write('{"ready":true}\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const claims: [string, string, string][] = [];
const end_ms = performance.now() + duration_ms;
for (let turn = 0; performance.now() < end_ms; turn += 1) {
  if (random.chance(0.5)) await useLock(client, random);
  else await useQueue(client, random, claims, `${seed}.${turn}`);
}
await client.close();
