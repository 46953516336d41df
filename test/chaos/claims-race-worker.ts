// One of many processes that want every feature and edge there is. Half of the time all ask for the same one at once, half of
// the time each has its own before it goes for those of the others. Its last line is what it was granted, who it was told has
// the rest, and when it asked.
import { createInterface } from 'node:readline';
import { connect } from '../../src/index.ts';

const { store, index, processes, pairs } = JSON.parse(process.argv[2] ?? '{}') as {
  store: string;
  index: number;
  processes: number;
  pairs: number;
};
const SPELLINGS = ['design→code', 'design_code', 'Design -> Code', 'DESIGN - CODE'];

const client = await connect({ store, agent_id: `racer-${index}`, sits: true });
const granted: number[] = [];
const told: Record<number, string> = {};
const asked_ms: Record<number, number> = {};
const answered_ms: Record<number, number> = {};
let unavailable = 0;

/** By the machine's monotonic clock, which is the same for all processes. */
const now_ms = () => Number(process.hrtime.bigint() / 1000n) / 1000;

async function ask(pair: number): Promise<void> {
  asked_ms[pair] = now_ms();
  await answered(pair);
  answered_ms[pair] = now_ms();
}

async function answered(pair: number): Promise<void> {
  const edge = SPELLINGS[(pair + index) % SPELLINGS.length] ?? '';
  // Named, so that asking again after a lost answer is the same question.
  const asked = { feature: `F-${pair}`, edge, operation_id: `race-${pair}` };
  for (;;) {
    const answer = await client.call('claim_edge', asked);
    if (answer.success === true) {
      granted.push(pair);
      return;
    }
    if (answer.action === 'claim_rejected') {
      told[pair] = String(answer.held_by);
      return;
    }
    if (answer.error !== 'database_unavailable') throw new Error(`unexpected: ${JSON.stringify(answer)}`);
    unavailable += 1;
  }
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Loads what the first call loads, so that the race is about the claims and not about starting.
await client.call('claims_status', {});
const together = async () => {
  console.log('ready');
  await input.next();
};
for (let start = 0; start < pairs; start += processes) {
  const size = Math.min(processes, pairs - start);
  const same = (start / processes) % 2 === 0;
  const first = same ? 0 : index;
  for (let n = 0; n < size; n += 1) {
    // Otherwise the quickest may be through with everything before the last one begins.
    if (same || n <= 1) await together();
    await ask(start + ((first + n) % size));
  }
}
await client.close();
console.log(JSON.stringify({ granted, told, unavailable, asked_ms, answered_ms }));
input.return?.();
process.stdin.destroy();
