// `npm run simulate -- --seeds N [--from S]`, or `--seed S [--trace]` to look at one run; `--claims`: a fleet that claims
// features; `--board`: agents that bid on artefacts.
import { parseArgs } from 'node:util';
import { simulateBoard } from './board/run.ts';
import { simulateClaims } from './claims/run.ts';
import { simulate } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    claims: { type: 'boolean', default: false },
    board: { type: 'boolean', default: false },
  },
});

const run = values.board ? simulateBoard : values.claims ? simulateClaims : simulate;
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const PROGRESS_MS = 2000;

function summary(done: number, start_ms: number): string {
  const elapsed_ms = performance.now() - start_ms;
  return `${done} seeds, ${(elapsed_ms / 1000).toFixed(0)} s, ${Math.round((done / elapsed_ms) * 1000)} seeds/s`;
}

async function main(): Promise<number> {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
    console.error(
      'usage: npm run simulate -- [--claims | --board] [--seeds N] [--from SEED] | --seed SEED [--trace]',
    );
    return 2;
  }
  const totals = new Map<string, number>();
  const start_ms = performance.now();
  let shown_ms = start_ms;
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const { counts } = await run(seed, values.trace ? console.log : undefined);
      for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      return 1;
    }
    if (performance.now() - shown_ms < PROGRESS_MS) continue;
    shown_ms = performance.now();
    console.error(`… ${summary(seed - first + 1, start_ms)}`);
  }
  for (const [what, times] of [...totals].sort()) console.log(`${String(times).padStart(10)}  ${what}`);
  console.log(`all promises held: ${summary(count, start_ms)}`);
  return 0;
}

process.exitCode = await main();
