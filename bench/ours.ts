/** Our side, through the public entry only: what a user of the library gets is what is measured. */
import { connect } from '../src/index.ts';
import type { JsonObject } from '../src/kernel/json.ts';
import { type CycleQueue, pull, share } from './harness.ts';

/** Concurrent callers are concurrent calls of one client: that is what "in one process" means in the goals. */
export interface Ours {
  acquire(path: string): Promise<void>;
  release(path: string): Promise<void>;
  checkLock(path: string): Promise<void>;
  submit(n: number): Promise<void>;
  /** The claimed task's id, or nothing when the queue has none to give. */
  claim(): Promise<string | undefined>;
  complete(task: string): Promise<void>;
  submitBatch(count: number, first: number): Promise<void>;
  claimBatch(count: number): Promise<string[]>;
  completeBatch(tasks: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const describe = (n: number) => ({ task_type: 'bench', task_description: `task ${n}` });

/** A refusal is quick to give: counting one as work done would flatter us. */
function granted(operation: string, answer: JsonObject): JsonObject {
  if (answer.success !== true) throw new Error(`${operation}: ${JSON.stringify(answer)}`);
  return answer;
}

function taskId(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'task_id' in value && typeof value.task_id === 'string')
    return value.task_id;
  throw new Error(`not a task: ${JSON.stringify(value)}`);
}

export async function openOurs(url: string): Promise<Ours> {
  const client = await connect({ store: url, agent_id: 'bench' });
  const call = async (operation: string, input: JsonObject): Promise<JsonObject> =>
    granted(operation, await client.call(operation, input));
  /** An empty queue is an answer here, any other refusal is not. */
  const take = async (operation: string, input: JsonObject): Promise<JsonObject | undefined> => {
    const answer = await client.call(operation, input);
    return answer.reason === 'no_tasks_available' ? undefined : granted(operation, answer);
  };
  return {
    acquire: async (path) => void (await call('acquire_lock', { file_path: path })),
    release: async (path) => void (await call('release_lock', { file_path: path })),
    async checkLock(path) {
      const { locks } = await call('check_locks', { file_paths: [path] });
      if (!Array.isArray(locks) || locks.length !== 1) throw new Error(`${path} should be locked`);
    },
    submit: async (n) => void (await call('submit_work', describe(n))),
    async claim() {
      const answer = await take('get_work', {});
      return answer === undefined ? undefined : taskId(answer);
    },
    complete: async (task) => void (await call('complete_work', { task_id: task, success: true })),
    async submitBatch(count, first) {
      const tasks = Array.from({ length: count }, (_, index) => describe(first + index));
      await call('submit_work_batch', { tasks });
    },
    async claimBatch(count) {
      const answer = await take('get_work_batch', { count });
      return Array.isArray(answer?.tasks) ? answer.tasks.map(taskId) : [];
    },
    async completeBatch(tasks) {
      const items = tasks.map((task) => ({ task_id: task, success: true }));
      await call('complete_work_batch', { items });
    },
    close: () => client.close(),
  };
}

/** Our queue, one by one or in batches, measured exactly as the peers are. */
export function ourQueue(ours: Ours, callers: number, batch: number): CycleQueue {
  const one = async (): Promise<number> => {
    const task = await ours.claim();
    if (task === undefined) return 0;
    await ours.complete(task);
    return 1;
  };
  const many = async (): Promise<number> => {
    const tasks = await ours.claimBatch(batch);
    if (tasks.length > 0) await ours.completeBatch(tasks);
    return tasks.length;
  };
  return {
    name: batch === 1 ? 'ours' : `ours, batches of ${batch}`,
    submit: (count) =>
      share(count, callers, batch, (units, first) =>
        batch === 1 ? ours.submit(first) : ours.submitBatch(units, first),
      ),
    drain: (count) => pull(count, callers, batch === 1 ? one : many),
    close: () => ours.close(),
  };
}
