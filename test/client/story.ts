import type { Client, Methods } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';

export interface Told {
  readonly method: keyof Methods;
  readonly answer: JsonObject;
}

/** Two agents use every operation at least once, well and badly; what they were answered, in order. */
export async function tell(alice: Client, bob: Client): Promise<Told[]> {
  const told: Told[] = [];
  const say = async <A extends object>(method: keyof Methods, asked: Promise<A>): Promise<A> => {
    const answer = await asked;
    // As it looks on the wire: without what is undefined.
    told.push({ method, answer: JSON.parse(JSON.stringify(answer)) as JsonObject });
    return answer;
  };
  await sessionsAndMail(alice, bob, say);
  await locks(alice, bob, say);
  await work(alice, bob, say);
  await batches(alice, say);
  await say('cleanupDeadAgents', bob.cleanupDeadAgents({ stale_threshold_minutes: 60 }));
  await say('endSession', alice.endSession());
  await say('showTeam', alice.showTeam());
  return told;
}

type Say = <A extends object>(method: keyof Methods, asked: Promise<A>) => Promise<A>;

async function sessionsAndMail(alice: Client, bob: Client, say: Say): Promise<void> {
  await say('readHandoff', alice.readHandoff());
  await say('writeHandoff', alice.writeHandoff({ summary: 'moved', next_steps: ['test it'] }));
  await say('readHandoff', bob.readHandoff({ agent_name: 'alice', limit: 1 }));
  await say('registerSession', alice.registerSession({ capabilities: ['typescript'], current_task: 'it' }));
  await say('heartbeat', bob.heartbeat());
  await say('discoverAgents', bob.discoverAgents({ capability: 'typescript' }));
  const sent = await say('sendMessage', alice.sendMessage({ to: ['bob'], subject: 'hi', body: 'free?' }));
  await say('readInbox', bob.readInbox());
  await say('acknowledgeMessage', bob.acknowledgeMessage({ message_ids: [String(sent.message_id)] }));
  await say('readInbox', bob.readInbox({ all: true }));
  await say('sendMessage', bob.sendMessage({ body: 'to nobody' }));
}

async function locks(alice: Client, bob: Client, say: Say): Promise<void> {
  await say('acquireLock', alice.acquireLock({ file_path: './src/../src/a.ts', reason: 'rename' }));
  await say('acquireLock', alice.acquireLock({ file_path: 'src/a.ts', ttl_minutes: 5 }));
  await say('acquireLock', bob.acquireLock({ file_path: 'src/a.ts' }));
  await say('acquireLock', bob.acquireLock({ file_path: 'src/a.ts', wait_seconds: 0.05 }));
  await say('acquireLock', bob.acquireLock({ file_paths: ['docs/', 'web/*.css'], shared: true }));
  await say('acquireLock', bob.acquireLock({ file_path: '../outside.ts' }));
  await say('acquireLock', bob.acquireLock({}));
  await say('checkLocks', bob.checkLocks({ file_paths: ['src/a.ts'] }));
  await say('checkLocks', bob.checkLocks());
  await say('releaseLock', bob.releaseLock({ file_path: 'src/a.ts' }));
  await say('releaseLock', bob.releaseLock({ file_paths: ['docs/', 'web/*.css', 'none.ts'] }));
  await say('releaseLock', alice.releaseLock({ file_path: 'src/a.ts' }));
}

async function work(alice: Client, bob: Client, say: Say): Promise<void> {
  const task = { task_type: 'test', task_description: 'run them' };
  await say('getWork', bob.getWork());
  const first = await say('submitWork', alice.submitWork({ ...task, input_data: { n: 1 }, files: ['t.ts'] }));
  const task_id = String(first.task_id);
  const second = await say('submitWork', alice.submitWork({ ...task, depends_on: [task_id], priority: 1 }));
  await say('submitWork', alice.submitWork({ ...task, priority: 11 }));
  await say('listWork', bob.listWork({ limit: 5 }));
  const claim = await say('getWork', bob.getWork({ task_types: ['test'] }));
  await say('renewWork', bob.renewWork({ task_id, lease_minutes: 60 }));
  await say('completeWork', alice.completeWork({ task_id, success: true }));
  const fencing_token = claim.success ? claim.fencing_token : 1;
  await say('completeWork', bob.completeWork({ task_id, success: true, result: [1], fencing_token }));
  await say('showWork', bob.showWork({ task_id }));
  const next = { task_id: String(second.task_id) };
  await say('reprioritiseWork', alice.reprioritiseWork({ ...next, priority: 2 }));
  await say('cancelWork', alice.cancelWork({ ...next, reason: 'no longer' }));
  await say('retryWork', alice.retryWork(next));
  await say('showWork', alice.showWork({ task_id: '0192a000-0000-7000-8000-000000000001' }));
}

async function batches(alice: Client, say: Say): Promise<void> {
  const task = { task_type: 'batch', task_description: 'one of them' };
  await say('submitWorkBatch', alice.submitWorkBatch({ tasks: [task, { ...task, idempotency_key: 'k' }] }));
  const taken = await say('getWorkBatch', alice.getWorkBatch({ task_types: ['batch'], count: 5 }));
  const tasks = taken.success ? taken.tasks : [];
  const items = tasks.map(({ task_id }, index) => ({ task_id, success: index === 0, error_message: 'red' }));
  const unknown = { task_id: '0192a000-0000-7000-8000-000000000001', success: true };
  await say('completeWorkBatch', alice.completeWorkBatch({ items: [...items, unknown] }));
  await say('retryWork', alice.retryWork({ task_id: String(items[1]?.task_id) }));
}
