// One agent, told by its standard input what to call: a line in, a line out.
import { createInterface } from 'node:readline';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { refuse, StoreFailure } from '../../src/kernel/refusal.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { type AgentOptions, fastClock } from './crew.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as AgentOptions;
const clock =
  options.clock === undefined ? systemClock : fastClock(options.clock.base_ms, options.clock.speed);
let coxswain: Coxswain | undefined;
let connection: Connection | undefined;

async function call(name: string, input: object): Promise<unknown> {
  // Each call is one commit here; that an agent is there has tests of its own.
  coxswain ??= await open({ store: options.store, sits: options.sits, clock, presence: 'off' });
  connection ??= coxswain.connect({ agent_id: options.agent_id });
  if (name === 'describe_store') return await coxswain.store.describe();
  const operation = operationsByName.get(name);
  return operation === undefined
    ? refuse('unknown_operation', name)
    : await connection.perform(operation, input);
}

for await (const line of createInterface({ input: process.stdin })) {
  const started_ms = performance.now();
  const { operation, input } = JSON.parse(line);
  let answer: unknown;
  try {
    answer = await call(operation, input);
  } catch (error) {
    // A store that cannot even be opened.
    if (!(error instanceof StoreFailure)) throw error;
    answer = error.refusal;
  }
  console.log(JSON.stringify({ answer, elapsed_ms: performance.now() - started_ms }));
}
await coxswain?.close();
