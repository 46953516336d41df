// A runner as a process of its own: `worker.ts FOLDER STORE NAME LEASE_MS`. Takes what waits, then says what came of it and ends.
import { inline } from '../../../src/features/verification/runner/inline.ts';
import { Runner } from '../../../src/features/verification/runner/runner.ts';
import { open } from '../../../src/index.ts';

const [, , folder = '', store = '', name = '', lease_ms = ''] = process.argv;
const coxswain = await open({ store, cwd: folder, env: {} });
const connection = coxswain.connect({ agent_id: name, agent_type: 'verifier', session_id: name });
const { env } = process;
const runner = new Runner({
  coxswain,
  connection,
  executors: [inline],
  root: folder,
  env,
  lease_ms: Number(lease_ms),
});
process.stdout.write('ready\n');
const done = await runner.runNext(new AbortController().signal);
process.stdout.write(`${JSON.stringify(done ?? null)}\n`);
await coxswain.close();
