/** Cleans up after silent sessions and is killed before its nth commit: `node dying-cleaner.ts <repository> <n>`. */

import { systemClock } from '../../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../../src/kernel/ids.ts';
import type { Store } from '../../../src/ledger/store-port.ts';
import { Connection } from '../../../src/runtime/coordinator.ts';
import { open } from '../../../src/runtime/open.ts';
import { perform } from './perform.ts';

const [repo = '', deathAt = '0'] = process.argv.slice(2);
const coxswain = await open({ cwd: repo });
let commits = 0;
const store: Store = new Proxy(coxswain.store, {
  get(target, name) {
    const value = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => {
      if (name === 'run') {
        if (commits === Number(deathAt)) process.kill(process.pid, 'SIGKILL');
        commits += 1;
      }
      return value.apply(target, args);
    };
  },
});
const ids = createIds(systemClock, systemRandom);
const { workspace, project } = coxswain;
const actor = { agent_id: 'cleaner', agent_type: 'cli', session_id: 'cleaner-1' };
const cleaner = new Connection({ store, clock: systemClock, ids, workspace, project }, actor);
await perform(cleaner, 'cleanup_dead_agents', {});
await coxswain.close();
process.stdout.write(`${commits} commits\n`);
