// An agent that may sit, with several calls under way at once. None of its calls has an operation_id: whether a call that
// went to a seat which then died was done, is for the store to find out.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';

interface Options {
  readonly store: string;
  readonly folder: string;
  readonly name: string;
  readonly lanes: number;
  readonly sits: boolean;
}

const PATHS = 6;
const options = JSON.parse(process.argv[2] ?? '{}') as Options;
const journal = join(options.folder, `${options.name}.journal`);
let ending = false;
process.stdin.on('end', () => {
  ending = true;
});
process.stdin.resume();

const coxswain = await open({ store: options.store, sits: options.sits, presence: 'off' });
await Promise.all([...operationsByName.values()].map((operation) => operation.input()));

async function lane(number: number): Promise<void> {
  const connection = coxswain.connect({ agent_id: `${options.name}x${number}`, agent_type: 'chaos' });
  const perform = (name: string, input: object) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(name);
    return connection.perform(operation, input);
  };
  for (let count = 0; !ending; count += 1) {
    const label = `${options.name}-${process.pid}-${number}-${count}`;
    appendFileSync(journal, `${JSON.stringify({ tried: label })}\n`);
    const from_ms = Date.now();
    const answer = await perform('submit_work', { task_type: 'seat', task_description: label });
    const { pid } = process;
    const to_ms = Date.now();
    const { success, error, message } = answer;
    appendFileSync(
      journal,
      `${JSON.stringify({ answered: label, pid, from_ms, to_ms, success, error, message })}\n`,
    );
    const file_path = `src/${Math.floor(Math.random() * PATHS)}.ts`;
    const lock = await perform('acquire_lock', { file_path });
    if (lock.success === true) await perform('release_lock', { file_path });
  }
}

console.log('ready');
await Promise.all(Array.from({ length: options.lanes }, (_, number) => lane(number)));
await coxswain.close();
process.stdin.destroy();
