// Two agents on one codebase: one holds a file, the other waits for it; then they share a queue.
//
//   node examples/two-agents.ts                                   # on a store of its own
//   COORDINATION_API_URL=http://127.0.0.1:8081 COORDINATION_API_KEY=… node examples/two-agents.ts
import { connect } from '../src/index.ts'; // in your own project: from 'coxswain'

const where = process.env.COORDINATION_API_URL
  ? {}
  : { store: `sqlite:${process.argv[2] ?? 'two-agents.db'}` };
await using alice = await connect({ ...where, agent_id: 'alice' });
await using bob = await connect({ ...where, agent_id: 'bob' });

const lock = await alice.acquireLock({ file_path: 'src/app.ts', reason: 'rename the router' });
console.log('alice', lock.success ? `has ${lock.file_path}, grant ${lock.fencing_token}` : lock.message);

const refused = await bob.acquireLock({ file_path: 'src/app.ts' });
if (!refused.success) console.log('bob   is told:', refused.message);

const waiting = bob.acquireLock({ file_path: 'src/app.ts', wait_seconds: 30 });
await alice.releaseLock({ file_path: 'src/app.ts' });
const granted = await waiting;
console.log('bob  ', granted.success ? `has ${granted.file_path} now` : granted.message);

const build = await alice.submitWork({ task_type: 'build', task_description: 'build it' });
if (!build.success) throw new Error(build.message);
await alice.submitWork({ task_type: 'test', task_description: 'test it', depends_on: [build.task_id] });
for (let task = await bob.getWork(); task.success; task = await bob.getWork()) {
  console.log('bob   does:', task.task_description);
  await bob.completeWork({ task_id: task.task_id, success: true });
}
await bob.releaseLock({ file_path: 'src/app.ts' });
