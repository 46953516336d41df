/**
 * One process of races: `node worker.ts`. Each line on stdin is a job. It says "ready", waits for one more line, does its part,
 * and the line it prints then is the JSON of what it saw. It ends when stdin does.
 */
import { createInterface } from 'node:readline';
import { connect } from '../../src/index.ts';
import { openCells, request, setUnless } from './cells.ts';

export interface Job {
  readonly url: string;
  readonly agent_id: string;
  readonly role: string;
  readonly count: number;
}

const roles: Record<string, (job: Job) => Promise<unknown>> = {
  async locks({ url, agent_id, count }) {
    const client = await connect({ store: url, agent_id, sits: true });
    await start();
    const won: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const answer = await client.call('acquire_lock', { file_path: `raced/${n}.ts` });
      if (answer.success === true) won.push(`raced/${n}.ts`);
    }
    await client.close();
    return won;
  },
  async areas({ url, agent_id, count }) {
    const client = await connect({ store: url, agent_id, sits: true });
    // Each wants the same in another way; all of them have one file in common.
    const ways = ['/', '/deep/x.ts', '/**/*.ts', '/deep/', '/deep/?.ts'];
    const own = ways[Number(agent_id.at(-1)) % ways.length] ?? '/';
    await start();
    const won: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const answer = await client.call('acquire_lock', { file_path: `areas/${n}${own}` });
      if (answer.success === true) won.push(n);
    }
    await client.close();
    return won;
  },
  async claims({ url, agent_id, count }) {
    const client = await connect({ store: url, agent_id, sits: true });
    await start();
    const won: string[] = [];
    for (let n = 0; n < count; n += 1) {
      // Every worker writes the edge in another way; all of them mean one.
      const edge = ['design→code', 'design_code', 'Design -> Code'][(n + Number(agent_id.at(-1))) % 3] ?? '';
      const answer = await client.call('claim_edge', { feature: `raced-${n}`, edge });
      if (answer.success === true) won.push(`raced-${n}`);
      else if (answer.action !== 'claim_rejected') throw new Error(JSON.stringify(answer));
    }
    await client.close();
    return won;
  },
  async limited({ url, agent_id, count }) {
    // One session in several processes, as an agent's hooks and its MCP server are.
    const one = { agent_id: 'limited-racer', session_id: 'limited-session' };
    const client = await connect({ store: url, ...one, sits: true });
    await start();
    let passed = 0;
    for (let n = 0; n < count; n += 1) {
      const answer = await client.call('submit_changeset', { file_paths: [`limited/${agent_id}-${n}.ts`] });
      if (answer.success === true) passed += 1;
      else if (answer.limit !== 'max_file_modifications') throw new Error(JSON.stringify(answer));
    }
    await client.close();
    return passed;
  },
  async tasks({ url, agent_id }) {
    const client = await connect({ store: url, agent_id, sits: true });
    await start();
    const done: string[] = [];
    for (;;) {
      const task = await client.call('get_work', { task_types: ['raced'] });
      if (task.success !== true) break;
      const ended = await client.call('complete_work', { task_id: task.task_id as string, success: true });
      if (ended.success === true) done.push(task.task_id as string);
    }
    await client.close();
    return done;
  },
  async approvals({ url, count }) {
    // One agent in many processes, as a client with several hooks at once is.
    const client = await connect({ store: url, agent_id: 'racer', sits: true });
    await start();
    const went: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const answer = await client.call('check_guardrails', { operation_text: `rm -rf /raced/${n}` });
      if (answer.success === true) went.push(n);
    }
    await client.close();
    return went;
  },
  async skew({ url, agent_id, count }) {
    const store = await openCells(url);
    await start();
    const set: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const [mine, others] = agent_id === 'even' ? [`even${n}`, `odd${n}`] : [`odd${n}`, `even${n}`];
      const outcome = await store.run(request(agent_id), setUnless(mine, others, agent_id));
      if (outcome.status === 'committed') set.push(n);
    }
    await store.close();
    return set;
  },
  async open({ url, agent_id }) {
    await start();
    const client = await connect({ store: url, agent_id, sits: true });
    const answer = await client.call('acquire_lock', { file_path: `opened/${agent_id}.ts` });
    await client.close();
    return answer.success;
  },
};

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function start(): Promise<void> {
  process.stdout.write('ready\n');
  await lines.next();
}

for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
  const job = JSON.parse(line.value) as Job;
  process.stdout.write(`${JSON.stringify(await roles[job.role]?.(job))}\n`);
}
