// An agent whose machine's clock is off: a line in, a line out. The clock is injected, for libfaketime is not everywhere; all that
// a store and a door ever ask for the time of day is this clock.
import { createInterface } from 'node:readline';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';

const { store, agent_id, off_ms } = JSON.parse(process.argv[2] ?? '{}') as {
  store: string;
  agent_id: string;
  off_ms: number;
};
const clock = { ...systemClock, now_ms: () => systemClock.now_ms() + off_ms };
const coxswain = await open({ store, clock });
const connection = coxswain.connect({ agent_id });

for await (const line of createInterface({ input: process.stdin })) {
  const { operation: name, input } = JSON.parse(line);
  const operation = operationsByName.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const answer = await connection.perform(operation, input);
  console.log(JSON.stringify({ answer, elapsed_ms: 0 }));
}
await coxswain.close();
