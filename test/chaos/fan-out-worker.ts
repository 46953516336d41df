// One of those who pass a parent's end on to its dependents: it ends the parent (again, if another incarnation did), then
// asks for work until there is none. Killed at any instant, another goes on where it stopped.
import { createInterface } from 'node:readline';
import { connect } from '../../src/index.ts';

interface Options {
  readonly store: string;
  readonly agent_id: string;
  readonly parent: string;
  readonly fencing_token: number;
  readonly success: boolean;
  /** What it asks for: the dependents, or a type that no task has, so that it does nothing but pass on. */
  readonly task_type: string;
}

const options = JSON.parse(process.argv[2] ?? '{}') as Options;
const client = await connect({ store: options.store, agent_id: options.agent_id });
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Loads what the first calls load, so that the time until the kill is spent on the fan-out.
await client.call('check_locks');
console.log('ready');
await input.next();

const { parent: task_id, fencing_token, success } = options;
const started_ms = performance.now();
const ended = await client.call('complete_work', {
  task_id,
  success,
  fencing_token,
  operation_id: 'the end',
});
const complete_ms = performance.now() - started_ms;
if (ended.success !== true) throw new Error(`not ended: ${JSON.stringify(ended)}`);
let get_ms_max = 0;
for (let left = true; left; ) {
  const asked_ms = performance.now();
  const task = await client.call('get_work', { task_types: [options.task_type] });
  left = task.success === true;
  if (left) get_ms_max = Math.max(get_ms_max, performance.now() - asked_ms);
  else if (task.reason !== 'no_tasks_available') throw new Error(`no work: ${JSON.stringify(task)}`);
}
console.log(JSON.stringify({ complete_ms, get_ms_max }));
await client.close();
input.return?.();
process.stdin.destroy();
