/**
 * Another process on a store: `node watch-worker.ts URL commit|leave`. It says "ready".
 * `commit`: for every line it commits once and says when that was answered. A number in the line is how many commits of
 * another kind come before, as fast as the file takes them.
 * `leave`: watches, takes one hint of its own making, and then leaves everything as it is and has nothing more to do.
 */
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { open } from '../../src/index.ts';
import { agent } from '../conformance/engine.ts';

const [url = '', role = ''] = process.argv.slice(2);
const coxswain = await open({ store: url, presence: 'off' });
const call = agent(coxswain, `worker-${role}`);

function storm(commits: number): void {
  const database = new DatabaseSync(url.replace(/^sqlite:/, ''), { timeout: 5000 });
  database.exec('PRAGMA synchronous = OFF');
  database.exec('CREATE TABLE IF NOT EXISTS storm (n INTEGER) STRICT');
  const insert = database.prepare('INSERT INTO storm VALUES (?)');
  for (let n = 0; n < commits; n += 1) insert.run(n);
  database.close();
}

if (role === 'commit') {
  const lines = createInterface({ input: process.stdin });
  process.stdout.write('ready\n');
  let n = 0;
  for await (const line of lines) {
    if (Number(line) > 0) storm(Number(line));
    n += 1;
    const answer = await call('acquire_lock', { file_path: `by-the-other/${n}.ts` });
    if (answer.success !== true) throw new Error(JSON.stringify(answer));
    process.stdout.write(`${performance.timeOrigin + performance.now()}\n`);
  }
  await coxswain.close();
} else {
  const hints = coxswain.store.watch('default', new AbortController().signal)[Symbol.asyncIterator]();
  const hinted = hints.next();
  await call('acquire_lock', { file_path: 'left.ts' });
  await hinted;
  process.stdout.write('ready\n');
}
