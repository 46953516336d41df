/** A process that ends as a hook does: `node leave-worker.ts URL NAME COMMITS leave|die`. */
import { open } from '../../src/index.ts';
import { agent } from '../conformance/engine.ts';

const [url = '', name = '', commits = '', end = ''] = process.argv.slice(2);
const coxswain = await open({ store: url, presence: 'off', brief: true });
const call = agent(coxswain, name);
for (let n = 0; n < Number(commits); n += 1) {
  const answer = await call('acquire_lock', { file_path: `${name}/${n}.ts` });
  if (answer.success !== true) throw new Error(JSON.stringify(answer));
}
if (end === 'leave') await coxswain.close();
process.exit(0);
