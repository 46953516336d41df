// Promotes alice's drafts and is killed before its n-th change of the disk; without an n it says how many there are. Drafts and
// assets are in the bucket that is named third, if one is.
import { watchDisk } from './faults.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const [root, last, assets] = process.argv.slice(2);
const yard = await Yard.open(root);
Object.assign(yard.ground, { assets });
let count = 0;
watchDisk(async (_step, cut) => {
  count += 1;
  if (count !== Number(last)) return;
  await cut();
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way: nothing more is to happen.
  await new Promise(() => {});
});
const answer = await yard.agent('alice')('promote_draft', {
  feature: FEATURE,
  edge: EDGE,
  evaluators: PASSED,
});
watchDisk(undefined);
await yard.store.close();
console.log(JSON.stringify({ count, answer }));
