// One agent, told by its standard input what to call: a line in, a line out.
import { createInterface } from 'node:readline';
import { type Client, connect } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { type AgentOptions, fastClock } from './crew.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as AgentOptions;
const clock =
  options.clock === undefined ? systemClock : fastClock(options.clock.base_ms, options.clock.speed);
let client: Client | undefined;

for await (const line of createInterface({ input: process.stdin })) {
  const started_ms = performance.now();
  const { operation, input } = JSON.parse(line);
  let answer: unknown;
  try {
    client ??= await connect({ store: options.store, agent_id: options.agent_id, clock });
    answer = await client.call(operation, input);
  } catch (error) {
    // A store that cannot even be opened.
    if (!(error instanceof StoreFailure)) throw error;
    answer = error.refusal;
  }
  console.log(JSON.stringify({ answer, elapsed_ms: performance.now() - started_ms }));
}
await client?.close();
