/** A process of agents. */
import { startAgents } from './board-agents.ts';

const [store = '', ...names] = process.argv.slice(2);
const agents = await startAgents(store, names, (news) => void process.send?.(news));
process.once('message', async () => {
  await agents.close();
  process.disconnect?.();
});
